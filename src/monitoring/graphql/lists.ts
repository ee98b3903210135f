import type { Prisma } from '../../generated/prisma/client.ts'
import { MonitorKind, MonitorState } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/connection.ts'
import { orderOf, pageOf } from '../../graphql/keyset.ts'
import { typeOfId } from '../../id.ts'

const MonitorFilter = builder.inputType('MonitorFilter', {
  description: 'Everything that is given has to hold.',
  fields: (t) => ({
    kind: t.field({ type: [MonitorKind], required: false, description: 'One of these.' }),
    state: t.field({ type: [MonitorState], required: false, description: 'One of these.' }),
    serviceId: t.id({ required: false, description: 'Those that bear on this service.' }),
  }),
})

const oldestFirst = orderOf('Monitor', { createdAt: ['time', 'asc'], id: ['text', 'asc'] })

builder.prismaObjectField('Organization', 'monitors', (t) =>
  t.field({
    type: connectionOf('Monitor'),
    description: 'Oldest first.',
    args: { filter: t.arg({ type: MonitorFilter, required: false }), ...pageArgs },
    resolve: ({ id }, { filter, ...args }, ctx, info) =>
      pageOf({
        order: oldestFirst,
        args,
        where: monitorsOf(id, filter),
        read: (slice) => ctx.db.monitor.findMany({ ...nodeQuery('Monitor', ctx, info), ...slice }),
        count: (query) => ctx.db.monitor.count(query),
      }),
  }),
)

builder.prismaObjectField('Event', 'monitor', (t) =>
  t.prismaField({
    type: 'Monitor',
    nullable: true,
    description:
      'The monitor it happened to, as it is now; null when it is gone, or when it happened to something else.',
    resolve: (query, { subjectId, organizationId }, _args, { db }) =>
      typeOfId(subjectId) === 'Monitor'
        ? db.monitor.findUnique({ ...query, where: { id: subjectId, organizationId } })
        : null,
  }),
)

type Filter = (typeof MonitorFilter)['$inferInput'] | null | undefined

function monitorsOf(organizationId: string, filter: Filter): Prisma.MonitorWhereInput {
  const { kind, state, serviceId } = filter ?? {}
  return {
    organizationId,
    ...(kind && { kind: { in: kind } }),
    ...(state && { state: { in: state } }),
    ...(serviceId && { serviceId: typeOfId(serviceId) === null ? '' : serviceId }),
  }
}
