import type { GraphQLResolveInfo } from 'graphql'
import { typeOfId } from '../../core/id.ts'
import { ANY_CASE } from '../../core/list-filter.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { MonitorKind, MonitorState } from '../../generated/prisma/enums.ts'
import { readTogether } from '../../graphql/execution/loader.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/list/connection.ts'
import type { ListArgs } from '../../graphql/list/filter.ts'
import { filterTag, listCosts, NAME_SEARCH_COST } from '../../graphql/list/filter.ts'
import type { Page, PageArgs } from '../../graphql/list/keyset.ts'
import { orderOf, pageOf, pageOfPositions } from '../../graphql/list/keyset.ts'
import { nameKey, orderInput } from '../../graphql/list/order.ts'
import type { GraphContext } from '../../graphql/schema/builder.ts'
import { monitorsMatching } from '../monitor/monitor-filter.ts'
import { listMonitorNames } from '../monitor/monitor-queries.ts'
import { builder } from './builder.ts'

const MonitorFilter = builder.inputType('MonitorFilter', {
  description: 'Conditions. Items must match all of them.',
  fields: (t) => ({
    text: t.string({
      required: false,
      description: `Part of the name or of the target (URL, host, domain or address), ${ANY_CASE}`,
    }),
    kind: t.field({ type: [MonitorKind], required: false, description: 'With one of these values.' }),
    state: t.field({
      type: [MonitorState],
      required: false,
      description: 'With one of these states.',
    }),
    serviceId: t.id({ required: false, description: 'Monitors of this service.' }),
    region: t.string({ required: false, description: 'Monitors probed from this region.' }),
    createdAfter: t.field({ type: 'DateTime', required: false, description: 'Created at or after this time.' }),
    createdBefore: t.field({ type: 'DateTime', required: false, description: 'Created before this time.' }),
  }),
})

const MonitorOrder = orderInput('Monitor', {
  CREATED_AT: 'When it was created.',
  NAME: 'The name, ignoring case.',
  STATE_SINCE: 'When its state last changed.',
})

interface Args extends PageArgs {
  readonly filter?: (typeof MonitorFilter)['$inferInput'] | null
  readonly orderBy?: (typeof MonitorOrder)['$inferInput'] | null
}

/** Returns the extra cost of ordering by name, which reads the names of all monitors. */
const byName = ({ orderBy }: ListArgs) => (orderBy?.field === 'NAME' ? NAME_SEARCH_COST : 0)

builder.prismaObjectField('Organization', 'monitors', (t) =>
  t.field({
    type: connectionOf('Monitor'),
    description: 'The monitors, oldest first unless `orderBy` is given.',
    extensions: listCosts(NAME_SEARCH_COST, byName),
    args: {
      filter: t.arg({ type: MonitorFilter, required: false }),
      orderBy: t.arg({ type: MonitorOrder, required: false }),
      ...pageArgs,
    },
    resolve: ({ id }, args, ctx, info) => monitorPage(ctx, info, id, args),
  }),
)

builder.prismaObjectField('Event', 'monitor', (t) =>
  t.prismaField({
    type: 'Monitor',
    nullable: true,
    description:
      'The current state of the monitor that the event is about. Null: the monitor is deleted, or the event has another subject.',
    resolve: (query, { subjectId, organizationId }, _args, ctx) =>
      typeOfId(subjectId) === 'Monitor'
        ? readTogether(ctx, () => ctx.db.monitor.findUnique({ ...query, where: { id: subjectId, organizationId } }))
        : null,
  }),
)

/**
 * Returns a page of an organization's monitors that match the filter. Databases order names differently, so ordering by
 * name reads all names. The tier limits their number.
 * @throws Invalid for invalid arguments.
 */
async function monitorPage(
  ctx: GraphContext,
  info: GraphQLResolveInfo,
  organizationId: string,
  { filter, orderBy, ...args }: Args,
): Promise<Page<Prisma.MonitorGetPayload<object>>> {
  const { field, direction } = orderBy ?? { field: 'CREATED_AT', direction: 'asc' }
  const tag = filterTag(filter)
  const where = { organizationId, ...monitorsMatching(filter ?? {}) }
  const include = nodeQuery('Monitor', ctx, info)
  const rows = {
    args,
    where,
    read: (slice: Prisma.MonitorFindManyArgs) => ctx.db.monitor.findMany({ ...include, ...slice }),
    count: (query: { readonly where: Prisma.MonitorWhereInput }) => ctx.db.monitor.count(query),
  }
  switch (field) {
    case 'CREATED_AT':
      return pageOf({
        ...rows,
        order: orderOf('Monitor', { createdAt: ['time', direction], id: ['text', direction] }, tag),
      })
    case 'STATE_SINCE':
      return pageOf({
        ...rows,
        order: orderOf('Monitor', { stateSince: ['time', direction], id: ['text', direction] }, tag),
      })
    case 'NAME': {
      const named = await listMonitorNames(ctx, organizationId, filter ?? {})
      const positions = named.map(({ id, name }) => ({ id, nameKey: nameKey(name) }))
      const order = orderOf('Monitor', { nameKey: ['text', direction], id: ['text', direction] }, tag)
      return pageOfPositions(order, args, positions, (ids) => rows.read({ where: { id: { in: ids } } }))
    }
  }
}
