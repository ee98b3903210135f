import { z } from 'zod'
import type { Actor, Context, Database } from '../context.ts'
import { Conflict, NotFound } from '../errors.ts'
import { change } from '../eventlog/change.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { typeOfId } from '../id.ts'
import { DAY } from '../time.ts'
import { invalid, validate } from '../validate.ts'
import { requireOperator, requireSame, requireScope } from './access.ts'
import { REVOKED_KEY_CHANNEL } from './api-key.ts'
import { tierLimits } from './plan.ts'

/** For how long a deleted organization can be restored. */
const GRACE = 7 * DAY

/** A condition on rows with an `organizationId`: their organization is not deleted. Nearly always there are none to look at. */
export const ofLiving = Prisma.sql`"organizationId" NOT IN (SELECT id FROM "Organization" WHERE "erasureDueAt" IS NOT NULL)`

/** The organizations that exist for a caller: all of them for the operator, else those that are not deleted. */
export function existingFor(actor: Actor): { readonly deletedAt?: null } {
  return actor.kind === 'operator' ? {} : { deletedAt: null }
}

/** Those of some organizations that are deleted. */
export async function deletedAmong({ db }: Pick<Context, 'db'>, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const where = { id: { in: [...new Set(ids)] }, deletedAt: { not: null } }
  const found = await db.organization.findMany({ where, select: { id: true } })
  return new Set(found.map(({ id }) => id))
}

/** When a deleted organization can no longer be restored, and is erased; null: it is not deleted. */
export function deletionAt({ deletedAt }: Pick<Organization, 'deletedAt'>): Date | null {
  return deletedAt && new Date(deletedAt.getTime() + GRACE)
}

const confirmed = z.object({ id: z.string(), slug: z.string() })

/**
 * Deletes the caller's organization: from now on it is as if it did not exist, and its keys do not hold, but for seven days
 * the operator can restore it. Deleting it twice changes nothing. Needs a key with scope ADMIN, or the operator.
 * @throws NotFound when another organization is named. @throws Invalid when the slug is not repeated as it is.
 */
export async function deleteOrganization(ctx: Context, input: unknown): Promise<Organization> {
  const id = requireScope(ctx, 'ADMIN')
  const { id: named, slug } = validate(confirmed, input)
  requireSame(named, id)
  return change(ctx, id, async ({ db, now }) => {
    const before = await db.organization.findUniqueOrThrow({ where: { id } })
    if (before.slug !== slug) throw invalid([{ path: ['slug'], message: 'must be the slug of the organization' }])
    if (before.deletedAt !== null) return [before]
    const deletedAt = now()
    const data = { deletedAt, erasureDueAt: new Date(deletedAt.getTime() + GRACE) }
    const organization = await db.organization.update({ where: { id }, data })
    await stopWatching(db, id)
    await stopTelling(db, organization, deletedAt)
    await db.$executeRaw`SELECT pg_notify(${REVOKED_KEY_CHANNEL}, id) FROM "ApiKey" WHERE "organizationId" = ${id}`
    return [organization, { kind: 'ORGANIZATION_DELETED', subjectId: id, subjectName: organization.name }]
  })
}

/**
 * Restores a deleted organization as it was. What happened meanwhile is not told to subscribers; the time in between counts
 * for no uptime. Restoring one that is not deleted changes nothing. Operator only.
 * @throws NotFound when there is no such organization. @throws Conflict when its time is over.
 */
export async function restoreOrganization(ctx: Context, id: string): Promise<Organization> {
  requireOperator(ctx)
  if (typeOfId(id) !== 'Organization') throw new NotFound('There is no such organization.')
  return change(ctx, id, async ({ db, now }) => {
    const before = await db.organization.findUniqueOrThrow({ where: { id } })
    const end = deletionAt(before)
    if (end === null) return [before]
    if (end <= now()) throw new Conflict('The time in which this organization could be restored is over.')
    const organization = await db.organization.update({ where: { id }, data: { deletedAt: null, erasureDueAt: null } })
    await stopTelling(db, organization, now())
    await watchAgain(db, organization, now())
    return [organization, { kind: 'ORGANIZATION_RESTORED', subjectId: id, subjectName: organization.name }]
  })
}

/** Makes no watch due, so that nothing is probed; who paused which monitor stays. A probe under way counts for nothing. */
async function stopWatching(db: Database, organizationId: string): Promise<void> {
  await db.watch.updateMany({ where: { monitor: { organizationId } }, data: { dueAt: null } })
}

/** Makes due what is watched: at once, but a job that has reported before gets its interval and grace for the next time. */
async function watchAgain(db: Database, { id, tier }: Organization, now: Date): Promise<void> {
  const shortest = tierLimits[tier].minIntervalSeconds
  await db.$executeRaw`
    UPDATE "Watch" AS watch SET "dueAt" = CASE WHEN monitor.kind <> 'HEARTBEAT' THEN ${now}::timestamptz
      ELSE ${now}::timestamptz + (greatest(monitor."intervalSeconds", ${shortest}::int)
        + coalesce((monitor.options ->> 'graceSeconds')::float8, 0)) * interval '1 second' END
    FROM "Monitor" AS monitor
    WHERE monitor.id = watch."monitorId" AND monitor."organizationId" = ${id} AND monitor."pausedBy" IS NULL
      AND (monitor.kind <> 'HEARTBEAT' OR watch."lastCheckedAt" IS NOT NULL)`
}

/**
 * Has the log so far told to nobody any more, and calls off what waits to be sent. Waits for nobody who is sending: what is
 * locked just now is not sent on, for its organization is deleted.
 */
async function stopTelling(db: Database, { id, lastSeq }: Organization, at: Date): Promise<void> {
  await db.dispatch.updateMany({ where: { organizationId: id }, data: { seq: lastSeq } })
  await db.$executeRaw`
    UPDATE "Delivery" SET status = 'CANCELLED', "dueAt" = NULL, "endedAt" = ${at}
    WHERE id IN (
      SELECT id FROM "Delivery" WHERE "organizationId" = ${id} AND status = 'PENDING' FOR UPDATE SKIP LOCKED)`
}
