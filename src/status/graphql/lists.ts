import type { Prisma } from '../../generated/prisma/client.ts'
import type { GraphContext } from '../../graphql/builder.ts'
import type { Direction } from '../../graphql/keyset.ts'
import { orderOf } from '../../graphql/keyset.ts'
import { perOperation } from '../../graphql/loader.ts'

/** The order in which services and groups stand on the page. */
export const inPageOrder = [{ position: 'asc' }, { id: 'asc' }] satisfies Prisma.ServiceOrderByWithRelationInput[]

/** The order of a timeline. */
export const newestFirst = (type: 'IncidentUpdate' | 'MaintenanceUpdate') =>
  orderOf(type, { createdAt: ['time', 'desc'], id: ['text', 'desc'] })

/** The order of the page, for connections of services. */
export const servicesInPageOrder = orderOf('Service', { position: ['number', 'asc'], id: ['text', 'asc'] })

/** The order of the page, for connections of groups. */
export const groupsInPageOrder = orderOf('ServiceGroup', { position: ['number', 'asc'], id: ['text', 'asc'] })

/** Incidents by when they started. */
export const incidentsByStart = (direction: Direction) =>
  orderOf('Incident', { startedAt: ['time', direction], id: ['text', direction] })

/** Maintenance by when it starts. */
export const maintenancesByStart = (direction: Direction) =>
  orderOf('Maintenance', { startsAt: ['time', direction], id: ['text', direction] })

interface Placed {
  readonly id: string
  readonly organizationId: string
}

/**
 * Counts what stands before a thing on its organization's page: the positions that are stored may have gaps.
 * @param read gives the things of these organizations, in the order of the page.
 */
export function placesIn(read: (ctx: GraphContext, organizationIds: string[]) => Promise<readonly Placed[]>) {
  return perOperation(async (ctx, things: readonly Placed[]) => {
    const all = await read(ctx, [...new Set(things.map(({ organizationId }) => organizationId))])
    const places = new Map<string, number>()
    const counts = new Map<string, number>()
    for (const { id, organizationId } of all) {
      const place = counts.get(organizationId) ?? 0
      places.set(id, place)
      counts.set(organizationId, place + 1)
    }
    // A thing deleted meanwhile stands at the end.
    return things.map(({ id, organizationId }) => places.get(id) ?? counts.get(organizationId) ?? 0)
  })
}
