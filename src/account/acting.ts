import type { Actor, Database } from '../context.ts'
import { NotFound } from '../errors.ts'
import type { Identified } from '../id.ts'
import { typeOfId } from '../id.ts'
import { slugText } from './page-settings.ts'

/**
 * The operator, acting for an organization that is named by its id or slug.
 * @throws NotFound when there is no such organization.
 */
export async function actingFor(db: Database, name: string): Promise<Actor> {
  const where = typeOfId(name) === 'Organization' ? { id: name } : { slug: name }
  const isName = 'id' in where || slugText.safeParse(name).success
  const found = isName ? await db.organization.findUnique({ where, select: { id: true } }) : null
  if (found === null) throw new NotFound('There is no such organization.')
  return { kind: 'operator', organizationId: found.id }
}

/** The organization that the first id belongs to that is found in arguments, an organization's own id before others; null: none. */
export async function organizationIn(db: Database, args: unknown): Promise<string | null> {
  const ids = [...textsIn(args)].filter((text) => typeOfId(text) !== null)
  const own = ids.find((id) => typeOfId(id) === 'Organization')
  if (own !== undefined || ids[0] === undefined) return own ?? null
  return organizationOf(db, ids[0])
}

type Find = (db: Database, id: string) => Promise<{ readonly organizationId: string } | null>

const select = { organizationId: true } as const

const find: Partial<Record<Identified, Find>> = {
  ApiKey: (db, id) => db.apiKey.findUnique({ where: { id }, select }),
  ServiceGroup: (db, id) => db.serviceGroup.findUnique({ where: { id }, select }),
  Service: (db, id) => db.service.findUnique({ where: { id }, select }),
  Incident: (db, id) => db.incident.findUnique({ where: { id }, select }),
  IncidentUpdate: (db, id) => db.incidentUpdate.findUnique({ where: { id }, select }),
  Maintenance: (db, id) => db.maintenance.findUnique({ where: { id }, select }),
  MaintenanceUpdate: (db, id) => db.maintenanceUpdate.findUnique({ where: { id }, select }),
  Monitor: (db, id) => db.monitor.findUnique({ where: { id }, select }),
  Subscriber: (db, id) => db.subscriber.findUnique({ where: { id }, select }),
  Delivery: (db, id) => db.delivery.findUnique({ where: { id }, select }),
}

async function organizationOf(db: Database, id: string): Promise<string | null> {
  const type = typeOfId(id)
  const found = type === null ? null : await find[type]?.(db, id)
  return found?.organizationId ?? null
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) yield* textsIn(member)
}
