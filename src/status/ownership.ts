import { tierLimits } from '../account/limits.ts'
import type { Context } from '../core/context.ts'
import { NotFound } from '../core/errors.ts'
import type { IdType } from '../core/id.ts'
import { typeOfId } from '../core/id.ts'
import { invalid } from '../core/validation.ts'

/** The maximum number of services in one input: as many as the highest tier allows. */
export const MAX_SERVICES = tierLimits.TEAM.services

const typeNames = {
  ServiceGroup: 'Service group',
  Service: 'Service',
  Incident: 'Incident',
  IncidentUpdate: 'Incident update',
  Maintenance: 'Maintenance',
  MaintenanceUpdate: 'Maintenance update',
  MaintenanceSeries: 'Maintenance series',
  Monitor: 'Monitor',
  Subscriber: 'Subscriber',
  Delivery: 'Delivery',
  AlertChannel: 'Alert channel',
  Alert: 'Alert',
  Objective: 'Objective',
  UptimeCorrection: 'Uptime correction',
} as const satisfies Partial<Record<IdType, string>>

type Owned = keyof typeof typeNames

/**
 * Returns the result of `find` for an id. `find` must search only the organization's own objects; it never gets ids of
 * another type.
 * @throws NotFound when it finds nothing.
 */
export async function findOwned<T>(type: Owned, id: string, find: (id: string) => Promise<T | null>): Promise<T> {
  const found = typeOfId(id) === type ? await find(id) : null
  if (found === null) throw notFound(type)
  return found
}

/** @throws NotFound unless all ids are services of the organization. */
export async function requireServices({ db }: Context, organizationId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const isValid = ids.every((id) => typeOfId(id) === 'Service')
  const count = isValid ? await db.service.count({ where: { organizationId, id: { in: [...ids] } } }) : 0
  if (count !== ids.length) throw notFound('Service')
}

/** Returns the ids that are services of the organization. */
export async function findServiceIds(
  { db }: Context,
  organizationId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const distinct = [...new Set(ids)].filter((id) => typeOfId(id) === 'Service')
  if (distinct.length === 0) return new Set()
  const services = await db.service.findMany({ where: { organizationId, id: { in: distinct } }, select: { id: true } })
  return new Set(services.map(({ id }) => id))
}

/**
 * @param pathOf returns the input path of the id at an index.
 * @throws Invalid when an id is repeated.
 */
export function requireDistinct(ids: readonly string[], pathOf: (index: number) => readonly (string | number)[]): void {
  const seen = new Set<string>()
  const again = [...ids.keys()].filter((index) => seen.size === seen.add(ids[index] ?? '').size)
  if (again.length === 0) return
  throw invalid(again.map((index) => ({ path: pathOf(index).map(String), message: 'must not be repeated' })))
}

/** Creates the error for an object that does not exist or belongs to another organization. */
export function notFound(type: Owned): NotFound {
  return new NotFound(`${typeNames[type]} not found.`)
}
