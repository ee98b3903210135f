import { resolveCursorConnection } from '@pothos/plugin-relay'
import { cursorOf, positionOf } from '../../eventlog/event.ts'
import type { Event as EventRow, Prisma } from '../../generated/prisma/client.ts'
import { EventKind, IncidentImpact, IncidentStatus, MaintenanceStatus } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { pageOf } from '../../graphql/lists.ts'
import { typeOfId } from '../../id.ts'
import { invalid } from '../../validate.ts'
import { Event } from './event.ts'
import { inPageOrder } from './lists.ts'
import { TimeOrder } from './words.ts'

const ServiceFilter = builder.inputType('ServiceFilter', {
  description: 'Everything that is given has to hold.',
  fields: (t) => ({ groupId: t.id({ required: false, description: 'Those in this group.' }) }),
})

const IncidentFilter = builder.inputType('IncidentFilter', {
  description: 'Everything that is given has to hold.',
  fields: (t) => ({
    status: t.field({ type: [IncidentStatus], required: false, description: 'One of these.' }),
    impact: t.field({ type: [IncidentImpact], required: false, description: 'One of these.' }),
    open: t.boolean({ required: false, description: 'Only those not resolved, or only those resolved.' }),
    serviceId: t.id({ required: false, description: 'Those that touch this service.' }),
  }),
})

const MaintenanceFilter = builder.inputType('MaintenanceFilter', {
  description: 'Everything that is given has to hold.',
  fields: (t) => ({
    status: t.field({ type: [MaintenanceStatus], required: false, description: 'One of these.' }),
    serviceId: t.id({ required: false, description: 'Those that touch this service.' }),
  }),
})

const EventFilter = builder.inputType('EventFilter', {
  description: 'Everything that is given has to hold.',
  fields: (t) => ({
    kind: t.field({ type: [EventKind], required: false, description: 'One of these.' }),
    subjectId: t.id({ required: false, description: 'What happened to this.' }),
    apiKeyId: t.id({ required: false, description: 'What was done with this key.' }),
  }),
})

/** What the organization has on its page and in its log; all of it needs a key of it, as `Organization` does. */
builder.prismaObjectFields('Organization', (t) => ({
  services: t.prismaConnection({
    type: 'Service',
    cursor: 'id',
    description: 'In the order of the page.',
    args: { filter: t.arg({ type: ServiceFilter, required: false }) },
    totalCount: ({ id }, { filter }, { db }) => db.service.count({ where: servicesOf(id, filter) }),
    resolve: (query, { id }, { filter }, { db }) =>
      db.service.findMany({ ...pageOf(query), where: servicesOf(id, filter), orderBy: inPageOrder }),
  }),
  serviceGroups: t.prismaConnection({
    type: 'ServiceGroup',
    cursor: 'id',
    description: 'In the order of the page.',
    totalCount: ({ id }, _args, { db }) => db.serviceGroup.count({ where: { organizationId: id } }),
    resolve: (query, { id }, _args, { db }) =>
      db.serviceGroup.findMany({ ...pageOf(query), where: { organizationId: id }, orderBy: inPageOrder }),
  }),
  incidents: t.prismaConnection({
    type: 'Incident',
    cursor: 'id',
    description: 'Open and resolved, by when they started.',
    args: {
      filter: t.arg({ type: IncidentFilter, required: false }),
      order: t.arg({ type: TimeOrder, defaultValue: 'desc' }),
    },
    totalCount: ({ id }, { filter }, { db }) => db.incident.count({ where: incidentsOf(id, filter) }),
    resolve: (query, { id }, { filter, order }, { db }) =>
      db.incident.findMany({
        ...pageOf(query),
        where: incidentsOf(id, filter),
        orderBy: [{ startedAt: order }, { id: order }],
      }),
  }),
  maintenances: t.prismaConnection({
    type: 'Maintenance',
    cursor: 'id',
    description: 'Past and planned, by when they start.',
    args: {
      filter: t.arg({ type: MaintenanceFilter, required: false }),
      order: t.arg({ type: TimeOrder, defaultValue: 'desc' }),
    },
    totalCount: ({ id }, { filter }, { db }) => db.maintenance.count({ where: maintenancesOf(id, filter) }),
    resolve: (query, { id }, { filter, order }, { db }) =>
      db.maintenance.findMany({
        ...pageOf(query),
        where: maintenancesOf(id, filter),
        orderBy: [{ startsAt: order }, { id: order }],
      }),
  }),
  events: t.connection(
    {
      type: Event,
      description: 'The audit trail: everything that happened, who did it and when.',
      args: {
        filter: t.arg({ type: EventFilter, required: false }),
        order: t.arg({ type: TimeOrder, defaultValue: 'desc' }),
      },
      resolve: async ({ id }, { filter, order, ...args }, { db }) => {
        const where = eventsOf(id, filter)
        const page = await resolveCursorConnection<Promise<EventRow[]>>(
          { args, toCursor: ({ seq }) => cursorOf(seq) },
          ({ after, before, limit, inverted }) =>
            db.event.findMany({
              where: { AND: [where, beyond(after, order), beyond(before, opposite[order])] },
              orderBy: { seq: inverted ? opposite[order] : order },
              take: limit,
            }),
        )
        return { ...page, count: () => db.event.count({ where }) }
      },
    },
    { fields: (c) => ({ totalCount: c.int({ resolve: ({ count }) => count() }) }) },
  ),
}))

type Order = typeof TimeOrder.$inferType
const opposite = { asc: 'desc', desc: 'asc' } as const satisfies Record<Order, Order>

/** The events that come after a cursor in an order. @throws Invalid when it is no cursor. */
function beyond(cursor: string | undefined, order: Order): Prisma.EventWhereInput {
  if (cursor === undefined) return {}
  const position = positionOf(cursor)
  if (position === null) throw invalid([{ path: ['after'], message: 'is no cursor of this connection' }])
  return { seq: order === 'asc' ? { gt: position } : { lt: position } }
}

type Filter<Input extends { $inferInput: unknown }> = Input['$inferInput'] | null | undefined

function servicesOf(organizationId: string, filter: Filter<typeof ServiceFilter>): Prisma.ServiceWhereInput {
  if (filter?.groupId === undefined) return { organizationId }
  return { organizationId, groupId: filter.groupId && possible(filter.groupId) }
}

function incidentsOf(organizationId: string, filter: Filter<typeof IncidentFilter>): Prisma.IncidentWhereInput {
  const { status, impact, open, serviceId } = filter ?? {}
  return {
    organizationId,
    ...(status && { status: { in: status } }),
    ...(impact && { impact: { in: impact } }),
    ...(typeof open === 'boolean' && { status: open ? { not: 'RESOLVED' } : 'RESOLVED' }),
    ...(serviceId && { services: { some: { serviceId: possible(serviceId) } } }),
  }
}

function maintenancesOf(
  organizationId: string,
  filter: Filter<typeof MaintenanceFilter>,
): Prisma.MaintenanceWhereInput {
  const { status, serviceId } = filter ?? {}
  return {
    organizationId,
    ...(status && { status: { in: status } }),
    ...(serviceId && { services: { some: { serviceId: possible(serviceId) } } }),
  }
}

function eventsOf(organizationId: string, filter: Filter<typeof EventFilter>): Prisma.EventWhereInput {
  const { kind, subjectId, apiKeyId } = filter ?? {}
  return {
    organizationId,
    ...(kind && { kind: { in: kind } }),
    ...(subjectId && { subjectId: possible(subjectId) }),
    ...(apiKeyId && { actorKeyId: possible(apiKeyId) }),
  }
}

/** An id as the database may be asked for it: a text that is no id of ours is nobody's. */
const possible = (id: string) => (typeOfId(id) === null ? '' : id)
