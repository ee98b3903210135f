import type { GraphQLResolveInfo } from 'graphql'
import { ANY_CASE, searchText } from '../../core/list-filter.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { MaintenanceStatus } from '../../generated/prisma/enums.ts'
import { filteredInBatches } from '../../graphql/list/batch-filter.ts'
import { nodeQuery } from '../../graphql/list/connection.ts'
import { filterTag } from '../../graphql/list/filter.ts'
import type { Page, PageArgs } from '../../graphql/list/keyset.ts'
import { orderOf, pageOf } from '../../graphql/list/keyset.ts'
import { orderInput } from '../../graphql/list/order.ts'
import type { GraphContext } from '../../graphql/schema/builder.ts'
import { maintenancesMatching } from '../list-conditions.ts'
import { timelineSearch } from '../search.ts'
import { builder } from './builder.ts'

/** The filter of all maintenance lists. */
export const MaintenanceFilter = builder.inputType('MaintenanceFilter', {
  description: 'Conditions. Items must match all of them.',
  fields: (t) => ({
    text: t.string({ required: false, description: `Part of the title or of an update’s message, ${ANY_CASE}` }),
    startsAfter: t.field({ type: 'DateTime', required: false, description: 'Planned to start at or after this time.' }),
    startsBefore: t.field({ type: 'DateTime', required: false, description: 'Planned to start before this time.' }),
    status: t.field({ type: [MaintenanceStatus], required: false, description: 'With one of these values.' }),
    serviceId: t.id({ required: false, description: 'Affecting this service.' }),
  }),
})

/** The order of maintenance. */
export const MaintenanceOrder = orderInput('Maintenance', { STARTS_AT: 'The planned start.' })

interface Args extends PageArgs {
  readonly filter?: (typeof MaintenanceFilter)['$inferInput'] | null
  readonly orderBy?: (typeof MaintenanceOrder)['$inferInput'] | null
}

/**
 * Returns a page of the maintenance that matches a condition and the filter.
 * @throws Invalid for invalid arguments.
 */
export function maintenancePage(
  ctx: GraphContext,
  info: GraphQLResolveInfo,
  scope: Prisma.MaintenanceWhereInput,
  { filter, orderBy, ...args }: Args,
): Page<Prisma.MaintenanceGetPayload<object>> {
  const direction = orderBy?.direction ?? 'desc'
  const order = orderOf('Maintenance', { startsAt: ['time', direction], id: ['text', direction] }, filterTag(filter))
  const text = searchText('text', filter?.text)
  const where = { AND: [scope, maintenancesMatching(filter ?? {})] } satisfies Prisma.MaintenanceWhereInput
  const include = nodeQuery('Maintenance', ctx, info)
  if (text === null) {
    return pageOf({
      order,
      args,
      where,
      read: (slice) => ctx.db.maintenance.findMany({ ...include, ...slice }),
      count: (query) => ctx.db.maintenance.count(query),
    })
  }
  const searched = filteredInBatches({
    order,
    candidates: (slice: Prisma.MaintenanceFindManyArgs) =>
      ctx.db.maintenance.findMany({ ...slice, select: { id: true, startsAt: true } }),
    selectMatching: timelineSearch(ctx, 'Maintenance', text),
    read: (ids) => ctx.db.maintenance.findMany({ ...include, where: { id: { in: ids } } }),
  })
  return pageOf({ order, args, where, ...searched })
}
