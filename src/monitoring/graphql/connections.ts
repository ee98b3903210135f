import type { GraphQLResolveInfo } from 'graphql'
import { typeOfId } from '../../core/id.ts'
import { ANY_CASE } from '../../core/list-filter.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { MonitorKind, MonitorState } from '../../generated/prisma/enums.ts'
import type { GraphContext } from '../../graphql/builder.ts'
import { builder } from '../../graphql/builder.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/connection.ts'
import type { ListArgs } from '../../graphql/filter.ts'
import { filterTag, listCosts, NAME_SEARCH_COST } from '../../graphql/filter.ts'
import type { Page, PageArgs } from '../../graphql/keyset.ts'
import { orderOf, pageOf, pageOfPositions } from '../../graphql/keyset.ts'
import { readTogether } from '../../graphql/loader.ts'
import { nameKey, orderInput } from '../../graphql/order.ts'
import { monitorsMatching } from '../monitor-filter.ts'

const MonitorFilter = builder.inputType('MonitorFilter', {
  description: 'Conditions. Items must match all of them.',
  fields: (t) => ({
    text: t.string({
      required: false,
      description: `Part of the name or of what is watched (URL, host, domain or address), ${ANY_CASE}`,
    }),
    kind: t.field({ type: [MonitorKind], required: false, description: 'With one of these values.' }),
    state: t.field({
      type: [MonitorState],
      required: false,
      description: 'With one of these states. PAUSED: paused monitors.',
    }),
    serviceId: t.id({ required: false, description: 'Monitors of this service.' }),
    region: t.string({ required: false, description: 'Monitors probed from this region.' }),
    createdAfter: t.field({ type: 'DateTime', required: false, description: 'Created at or after this time.' }),
    createdBefore: t.field({ type: 'DateTime', required: false, description: 'Created before this time.' }),
  }),
})

const MonitorOrder = orderInput('Monitor', {
  CREATED_AT: 'When it was created.',
  NAME: 'The name, without regard to case.',
  STATE_SINCE: 'When its state last changed.',
})

interface Args extends PageArgs {
  readonly filter?: (typeof MonitorFilter)['$inferInput'] | null
  readonly orderBy?: (typeof MonitorOrder)['$inferInput'] | null
}

/** The cost of reading the names of all monitors, to order by them. */
const byName = ({ orderBy }: ListArgs) => (orderBy?.field === 'NAME' ? NAME_SEARCH_COST : 0)

builder.prismaObjectField('Organization', 'monitors', (t) =>
  t.field({
    type: connectionOf('Monitor'),
    description: 'Oldest first, unless `orderBy` says otherwise.',
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
      'The monitor that the event is about, as it is now; null when it is deleted, or when the event is about something else.',
    resolve: (query, { subjectId, organizationId }, _args, ctx) =>
      typeOfId(subjectId) === 'Monitor'
        ? readTogether(ctx, () => ctx.db.monitor.findUnique({ ...query, where: { id: subjectId, organizationId } }))
        : null,
  }),
)

/**
 * Returns a page of an organization's monitors that match the filter. Databases differ in how they order names: to
 * order by name, all names are read, which a tier limits.
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
      const named = await ctx.db.monitor.findMany({ where, select: { id: true, name: true } })
      const positions = named.map(({ id, name }) => ({ id, nameKey: nameKey(name) }))
      const order = orderOf('Monitor', { nameKey: ['text', direction], id: ['text', direction] }, tag)
      return pageOfPositions(order, args, positions, (ids) => rows.read({ where: { id: { in: ids } } }))
    }
  }
}
