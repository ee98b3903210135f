import type { Prisma } from '../../generated/prisma/client.ts'
import { MonitorKind, MonitorState } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { pageOf } from '../../graphql/lists.ts'
import { typeOfId } from '../../id.ts'

const MonitorFilter = builder.inputType('MonitorFilter', {
  description: 'Everything that is given has to hold.',
  fields: (t) => ({
    kind: t.field({ type: [MonitorKind], required: false, description: 'One of these.' }),
    state: t.field({ type: [MonitorState], required: false, description: 'One of these.' }),
    serviceId: t.id({ required: false, description: 'Those that bear on this service.' }),
  }),
})

const oldestFirst = [{ createdAt: 'asc' }, { id: 'asc' }] satisfies Prisma.MonitorOrderByWithRelationInput[]

builder.prismaObjectField('Organization', 'monitors', (t) =>
  t.prismaConnection({
    type: 'Monitor',
    cursor: 'id',
    description: 'Oldest first.',
    args: { filter: t.arg({ type: MonitorFilter, required: false }) },
    totalCount: ({ id }, { filter }, { db }) => db.monitor.count({ where: monitorsOf(id, filter) }),
    resolve: (query, { id }, { filter }, { db }) =>
      db.monitor.findMany({ ...pageOf(query), where: monitorsOf(id, filter), orderBy: oldestFirst }),
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
