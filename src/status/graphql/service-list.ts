import type { GraphQLResolveInfo } from 'graphql'
import { validIdOrEmpty } from '../../core/id.ts'
import { ANY_CASE, containsText, inRange, oneOf, searchText } from '../../core/list-filter.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { ServiceStatus } from '../../generated/prisma/enums.ts'
import { nodeQuery } from '../../graphql/list/connection.ts'
import type { ListArgs } from '../../graphql/list/filter.ts'
import { filterTag } from '../../graphql/list/filter.ts'
import type { Page, PageArgs } from '../../graphql/list/keyset.ts'
import { orderOf, pageOf, pageOfPositions } from '../../graphql/list/keyset.ts'
import { nameKey, orderInput } from '../../graphql/list/order.ts'
import type { GraphContext } from '../../graphql/schema/builder.ts'
import { readShownStatuses } from '../service/service-queries.ts'
import { severityOf } from '../service/service-status.ts'
import { builder } from './builder.ts'

export const ServiceFilter = builder.inputType('ServiceFilter', {
  description: 'Conditions. Items must match all of them.',
  fields: (t) => ({
    text: t.string({ required: false, description: `Part of the name or the description, ${ANY_CASE}` }),
    status: t.field({ type: [ServiceStatus], required: false, description: 'With one of these shown statuses.' }),
    groupId: t.id({ required: false, description: 'In this group. Null: in no group.' }),
    createdAfter: t.field({ type: 'DateTime', required: false, description: 'Created at or after this time.' }),
    createdBefore: t.field({ type: 'DateTime', required: false, description: 'Created before this time.' }),
  }),
})

export const ServiceOrder = orderInput('Service', {
  POSITION: 'Page order.',
  NAME: 'The name, ignoring case.',
  STATUS: 'The shown status, ascending from operational to major outage; then page order.',
})

/** Returns the cost of reading all services, if the filter or the order needs that. */
export function fullReadCost({ filter, orderBy }: ListArgs): number {
  return filter?.['status'] != null || (orderBy && orderBy.field !== 'POSITION') ? FULL_READ_COST : 0
}

const FULL_READ_COST = 1500

interface Args extends PageArgs {
  readonly filter?: (typeof ServiceFilter)['$inferInput'] | null
  readonly orderBy?: (typeof ServiceOrder)['$inferInput'] | null
}

/**
 * Returns a page of an organization's services that match the filter. Shown statuses are not stored, and databases sort
 * names differently, so these filters and orders read all services; the tier limits their number.
 * @throws Invalid for invalid arguments.
 */
export async function servicePage(
  ctx: GraphContext,
  info: GraphQLResolveInfo,
  organizationId: string,
  { filter, orderBy, ...args }: Args,
): Promise<Page<Prisma.ServiceGetPayload<object>>> {
  const { field, direction } = orderBy ?? { field: 'POSITION', direction: 'asc' }
  const ungrouped = filter?.groupId === null
  const tag = filterTag({ ...filter, ...(ungrouped && { groupId: '' }) })
  const statuses = oneOf('status', filter?.status)?.in
  const where = { organizationId, ...matching(filter ?? {}) }
  const include = nodeQuery('Service', ctx, info)
  const order = orderOf('Service', { position: ['number', direction], id: ['text', direction] }, tag)
  if (field === 'POSITION' && statuses === undefined) {
    return pageOf({
      order,
      args,
      where,
      read: (slice) => ctx.db.service.findMany({ ...include, ...slice }),
      count: (query) => ctx.db.service.count(query),
    })
  }

  const positions = await positionsOf(ctx, where, statuses ?? null)
  const read = (ids: string[]) => ctx.db.service.findMany({ ...include, where: { id: { in: ids } } })
  switch (field) {
    case 'POSITION':
      return pageOfPositions(order, args, positions, read)
    case 'NAME': {
      const byName = orderOf('Service', { nameKey: ['text', direction], id: ['text', direction] }, tag)
      return pageOfPositions(byName, args, positions, read)
    }
    case 'STATUS': {
      const keys = { severity: ['number', direction], position: ['number', 'asc'], id: ['text', 'asc'] } as const
      return pageOfPositions(orderOf('Service', keys, tag), args, positions, read)
    }
  }
}

/** Reads the keys of all orders, for services that match a condition and show one of the statuses. */
async function positionsOf(
  ctx: GraphContext,
  where: Prisma.ServiceWhereInput,
  statuses: readonly ServiceStatus[] | null,
) {
  const services = await readShownStatuses(ctx, where)
  return services.flatMap(({ id, name, position, status }) =>
    statuses === null || statuses.includes(status)
      ? [{ id, position, nameKey: nameKey(name), severity: severityOf(status) }]
      : [],
  )
}

function matching(filter: NonNullable<Args['filter']>): Prisma.ServiceWhereInput {
  const { groupId } = filter
  const text = searchText('text', filter.text)
  const createdAt = inRange('created', filter.createdAfter, filter.createdBefore)
  return {
    ...(groupId !== undefined && { groupId: groupId && validIdOrEmpty(groupId) }),
    ...(createdAt && { createdAt }),
    ...(text !== null && { OR: [{ name: containsText(text) }, { description: containsText(text) }] }),
  }
}
