import { tierLimits } from '../account/plan.ts'
import type { Context } from '../context.ts'
import { NotFound } from '../errors.ts'
import type { Identified } from '../id.ts'
import { typeOfId } from '../id.ts'
import { invalid } from '../validate.ts'

/** The most services that one input names: as many as an organization of the highest tier has. */
export const MOST_SERVICES = tierLimits.TEAM.services

const words = {
  ServiceGroup: 'service group',
  Service: 'service',
  Incident: 'incident',
  IncidentUpdate: 'incident update',
  Maintenance: 'maintenance',
  MaintenanceUpdate: 'maintenance update',
  Monitor: 'monitor',
  Subscriber: 'subscriber',
  Delivery: 'delivery',
} as const satisfies Partial<Record<Identified, string>>

type Owned = keyof typeof words

/**
 * What `find` gives for an id; it has to look among the organization's own things only.
 * @throws NotFound when it gives nothing, or the id is none of this type, which then never reaches the database.
 */
export async function own<T>(type: Owned, id: string, find: (id: string) => Promise<T | null>): Promise<T> {
  const found = typeOfId(id) === type ? await find(id) : null
  if (found === null) throw notFound(type)
  return found
}

/** @throws NotFound unless each of the ids is a service of the organization. */
export async function requireServices({ db }: Context, organizationId: string, ids: readonly string[]): Promise<void> {
  const possible = ids.every((id) => typeOfId(id) === 'Service')
  const count = possible ? await db.service.count({ where: { organizationId, id: { in: [...ids] } } }) : 0
  if (count !== ids.length) throw notFound('Service')
}

/**
 * @param pathOf the place in the input of the id with a given index.
 * @throws Invalid when an id is named more than once.
 */
export function requireDistinct(ids: readonly string[], pathOf: (index: number) => readonly (string | number)[]): void {
  const seen = new Set<string>()
  const again = [...ids.keys()].filter((index) => seen.size === seen.add(ids[index] ?? '').size)
  if (again.length === 0) return
  throw invalid(again.map((index) => ({ path: pathOf(index).map(String), message: 'is named already' })))
}

/** What to throw for a thing that is not there, or is another organization's. */
export function notFound(type: Owned): NotFound {
  return new NotFound(`There is no such ${words[type]}.`)
}
