import type { Actor, Database } from '../core/context.ts'
import { NotFound } from '../core/errors.ts'
import type { IdType } from '../core/id.ts'
import { typeOfId } from '../core/id.ts'
import { slugText } from './page/page-settings.ts'

/**
 * Returns the caller as acting for an organization, given its id or slug. The operator may act for any organization, a person for
 * those that they are a member of, or for any if they are the operator. Other callers stay the same.
 * @throws NotFound for an unknown organization, or one that the caller may not act for.
 */
export async function actorFor(db: Database, actor: Actor, name: string): Promise<Actor> {
  if (actor.kind !== 'operator' && actor.kind !== 'user') return actor
  const where = typeOfId(name) === 'Organization' ? { id: name } : { slug: name }
  const isName = 'id' in where || slugText.safeParse(name).success
  const found = isName ? await db.organization.findUnique({ where, select: { id: true } }) : null
  const acting = found && actingFor(actor, found.id)
  if (acting === null) throw new NotFound('Organization not found.')
  return acting
}

/** Returns the caller as acting for an organization; null: the person may not act for it. */
export function actingFor(actor: Extract<Actor, { kind: 'operator' | 'user' }>, organizationId: string): Actor | null {
  if (actor.kind === 'operator' || actor.memberships.has(organizationId)) return { ...actor, organizationId }
  const { userId, confirmedAt } = actor
  return actor.isOperator ? { kind: 'operator', userId, confirmedAt, organizationId } : null
}

/** Returns the organization of the first id in the arguments. Ids of organizations take precedence. Null: no id. */
export async function organizationIn(db: Database, args: unknown): Promise<string | null> {
  const ids = [...stringsIn(args)].filter((text) => typeOfId(text) !== null)
  const own = ids.find((id) => typeOfId(id) === 'Organization')
  if (own !== undefined || ids[0] === undefined) return own ?? null
  return organizationOf(db, ids[0])
}

type Find = (db: Database, id: string) => Promise<{ readonly organizationId: string } | null>

const select = { organizationId: true } as const

const find: Readonly<Record<Exclude<IdType, 'Organization'>, Find>> = {
  StatusPage: (db, id) => db.page.findUnique({ where: { id }, select }),
  ApiKey: (db, id) => db.apiKey.findUnique({ where: { id }, select }),
  ServiceGroup: (db, id) => db.serviceGroup.findUnique({ where: { id }, select }),
  Service: (db, id) => db.service.findUnique({ where: { id }, select }),
  Incident: (db, id) => db.incident.findUnique({ where: { id }, select }),
  IncidentUpdate: (db, id) => db.incidentUpdate.findUnique({ where: { id }, select }),
  Maintenance: (db, id) => db.maintenance.findUnique({ where: { id }, select }),
  MaintenanceUpdate: (db, id) => db.maintenanceUpdate.findUnique({ where: { id }, select }),
  MaintenanceSeries: (db, id) => db.maintenanceSeries.findUnique({ where: { id }, select }),
  Monitor: (db, id) => db.monitor.findUnique({ where: { id }, select }),
  Subscriber: (db, id) => db.subscriber.findUnique({ where: { id }, select }),
  Delivery: (db, id) => db.delivery.findUnique({ where: { id }, select }),
  AlertChannel: (db, id) => db.alertChannel.findUnique({ where: { id }, select }),
  Alert: (db, id) => db.alert.findUnique({ where: { id }, select }),
  Objective: (db, id) => db.objective.findUnique({ where: { id }, select }),
  UptimeCorrection: (db, id) => db.uptimeCorrection.findUnique({ where: { id }, select }),
}

async function organizationOf(db: Database, id: string): Promise<string | null> {
  const type = typeOfId(id)
  if (type === null || type === 'Organization') return null
  return (await find[type](db, id))?.organizationId ?? null
}

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) yield* stringsIn(member)
}
