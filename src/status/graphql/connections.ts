import type { Prisma } from '../../generated/prisma/client.ts'
import { batchPerOperation } from '../../graphql/execution/loader.ts'
import { orderOf } from '../../graphql/list/keyset.ts'
import type { GraphContext } from '../../graphql/schema/builder.ts'

/** The order of services and groups on the page. */
export const inPageOrder = [{ position: 'asc' }, { id: 'asc' }] satisfies Prisma.ServiceOrderByWithRelationInput[]

/** The order of a timeline. */
export const newestFirst = (type: 'IncidentUpdate' | 'MaintenanceUpdate') =>
  orderOf(type, { createdAt: ['time', 'desc'], id: ['text', 'desc'] })

/** The page order in connections of groups. */
export const groupsInPageOrder = orderOf('ServiceGroup', { position: ['number', 'asc'], id: ['text', 'asc'] })

/** The order of repeating maintenances. */
export const seriesNewestFirst = orderOf('MaintenanceSeries', { createdAt: ['time', 'desc'], id: ['text', 'desc'] })

interface Positioned {
  readonly id: string
  readonly organizationId: string
}

/**
 * Returns the position of an object on its page, from 0. Stored positions may have gaps.
 * @param read returns the objects of these organizations in page order.
 */
export function pagePositionLoader(
  read: (ctx: GraphContext, organizationIds: string[]) => Promise<readonly Positioned[]>,
) {
  return batchPerOperation(async (ctx, items: readonly Positioned[]) => {
    const all = await read(ctx, [...new Set(items.map(({ organizationId }) => organizationId))])
    const positions = new Map<string, number>()
    const counts = new Map<string, number>()
    for (const { id, organizationId } of all) {
      const position = counts.get(organizationId) ?? 0
      positions.set(id, position)
      counts.set(organizationId, position + 1)
    }
    // An object deleted in the meantime counts as last.
    return items.map(({ id, organizationId }) => positions.get(id) ?? counts.get(organizationId) ?? 0)
  })
}
