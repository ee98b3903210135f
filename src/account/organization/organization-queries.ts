import type { Context } from '../../core/context.ts'
import { NotFound } from '../../core/errors.ts'
import { typeOfId } from '../../core/id.ts'
import { containsText } from '../../core/list-filter.ts'
import type { Organization } from '../../generated/prisma/client.ts'

type Db = Pick<Context, 'db'>

/** Returns the organization with this id, which must exist, even if it is deleted. */
export function readOrganization({ db }: Db, id: string): Promise<Organization> {
  return db.organization.findUniqueOrThrow({ where: { id } })
}

/** Returns the organization with an id that came from a caller, even if it is deleted. @throws NotFound. */
export async function findOrganization({ db }: Db, id: string): Promise<Organization> {
  const found = typeOfId(id) === 'Organization' ? await db.organization.findUnique({ where: { id } }) : null
  if (found === null) throw new NotFound('Organization not found.')
  return found
}

/** Returns the organization with this id, unless it is deleted; null: none. */
export function liveOrganization({ db }: Db, id: string): Promise<Organization | null> {
  return db.organization.findUnique({ where: { id, deletedAt: null } })
}

/** Returns whether an organization exists, even if it is deleted. */
export async function isOrganization({ db }: Db, id: string): Promise<boolean> {
  if (typeOfId(id) !== 'Organization') return false
  return (await db.organization.findUnique({ where: { id }, select: { id: true } })) !== null
}

/** Returns the organizations with these ids, even deleted ones. */
export function readOrganizations({ db }: Db, ids: readonly string[]): Promise<Organization[]> {
  return db.organization.findMany({ where: { id: { in: [...new Set(ids)] } } })
}

/** Returns the ids of at most two organizations that are not deleted. @param slug the slug; undefined: any. */
export function twoLiveOrganizations({ db }: Db, slug: string | undefined): Promise<{ readonly id: string }[]> {
  const where = { deletedAt: null, ...(slug !== undefined && { slug }) }
  return db.organization.findMany({ where, select: { id: true }, take: 2 })
}

/** Returns the time zones of all organizations. */
export async function timeZonesInUse({ db }: Db): Promise<string[]> {
  const zones = await db.organization.findMany({ distinct: ['timeZone'], select: { timeZone: true } })
  return zones.map(({ timeZone }) => timeZone)
}

/** Returns the organization with this slug, even if it is deleted; null: none. */
export function organizationBySlug({ db }: Db, slug: string): Promise<Organization | null> {
  return db.organization.findUnique({ where: { slug } })
}

/** Returns the id of the only organization that is not deleted; null: there is none, or more than one. */
export async function onlyOrganizationId({ db }: Db): Promise<string | null> {
  const [only, ...others] = await db.organization.findMany({
    where: { deletedAt: null },
    select: { id: true },
    take: 2,
  })
  return only && others.length === 0 ? only.id : null
}

/** Records that an organization got its default alert channel, within the transaction of a change. */
export async function markPushChannel({ db, now }: Pick<Context, 'db' | 'now'>, id: string): Promise<void> {
  await db.organization.update({ where: { id }, data: { pushChannelAt: now() } })
}

/** The organizations that `listOrganizations` returns. */
export interface OrganizationSearch {
  /** Part of the name, the slug or the contact address; empty: all organizations. */
  readonly text: string
  /** The list starts after this slug; null: at the first. */
  readonly after: string | null
  readonly limit: number
}

/** Returns organizations, including deleted ones, sorted by slug. The caller checks permissions. */
export function listOrganizations({ db }: Db, { text, after, limit }: OrganizationSearch): Promise<Organization[]> {
  const part = containsText(text)
  return db.organization.findMany({
    where: {
      ...(text !== '' && { OR: [{ name: part }, { slug: part }, { contactEmail: part }] }),
      ...(after !== null && { slug: { gt: after } }),
    },
    orderBy: { slug: 'asc' },
    take: limit,
  })
}

/** The number of objects that are deleted with an organization. */
export interface OrganizationContents {
  readonly services: number
  readonly monitors: number
  readonly incidents: number
  readonly subscribers: number
}

/** Counts the objects that are deleted with an organization. */
export async function countContents({ db }: Db, organizationId: string): Promise<OrganizationContents> {
  const where = { organizationId }
  const [services, monitors, incidents, subscribers] = await Promise.all([
    db.service.count({ where }),
    db.monitor.count({ where }),
    db.incident.count({ where }),
    db.subscriber.count({ where }),
  ])
  return { services, monitors, incidents, subscribers }
}
