import { cursorOf, positionOf } from '../../eventlog/event.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { EventKind, IncidentImpact, IncidentStatus, MaintenanceStatus } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/connection.ts'
import type { Direction, Order } from '../../graphql/keyset.ts'
import { pageOf } from '../../graphql/keyset.ts'
import { typeOfId } from '../../id.ts'
import { groupsInPageOrder, incidentsByStart, maintenancesByStart, servicesInPageOrder } from './lists.ts'
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
  services: t.field({
    type: connectionOf('Service'),
    description: 'In the order of the page.',
    args: { filter: t.arg({ type: ServiceFilter, required: false }), ...pageArgs },
    resolve: ({ id }, { filter, ...args }, ctx, info) =>
      pageOf({
        order: servicesInPageOrder,
        args,
        where: servicesOf(id, filter),
        read: (slice) => ctx.db.service.findMany({ ...nodeQuery('Service', ctx, info), ...slice }),
        count: (query) => ctx.db.service.count(query),
      }),
  }),
  serviceGroups: t.field({
    type: connectionOf('ServiceGroup'),
    description: 'In the order of the page.',
    args: pageArgs,
    resolve: ({ id }, args, ctx, info) =>
      pageOf({
        order: groupsInPageOrder,
        args,
        where: { organizationId: id },
        read: (slice) => ctx.db.serviceGroup.findMany({ ...nodeQuery('ServiceGroup', ctx, info), ...slice }),
        count: (query) => ctx.db.serviceGroup.count(query),
      }),
  }),
  incidents: t.field({
    type: connectionOf('Incident'),
    description: 'Open and resolved, by when they started.',
    args: {
      filter: t.arg({ type: IncidentFilter, required: false }),
      order: t.arg({ type: TimeOrder, defaultValue: 'desc' }),
      ...pageArgs,
    },
    resolve: ({ id }, { filter, order, ...args }, ctx, info) =>
      pageOf({
        order: incidentsByStart(order),
        args,
        where: incidentsOf(id, filter),
        read: (slice) => ctx.db.incident.findMany({ ...nodeQuery('Incident', ctx, info), ...slice }),
        count: (query) => ctx.db.incident.count(query),
      }),
  }),
  maintenances: t.field({
    type: connectionOf('Maintenance'),
    description: 'Past and planned, by when they start.',
    args: {
      filter: t.arg({ type: MaintenanceFilter, required: false }),
      order: t.arg({ type: TimeOrder, defaultValue: 'desc' }),
      ...pageArgs,
    },
    resolve: ({ id }, { filter, order, ...args }, ctx, info) =>
      pageOf({
        order: maintenancesByStart(order),
        args,
        where: maintenancesOf(id, filter),
        read: (slice) => ctx.db.maintenance.findMany({ ...nodeQuery('Maintenance', ctx, info), ...slice }),
        count: (query) => ctx.db.maintenance.count(query),
      }),
  }),
  events: t.field({
    type: connectionOf('Event'),
    description: 'The audit trail: everything that happened, who did it and when.',
    args: {
      filter: t.arg({ type: EventFilter, required: false }),
      order: t.arg({ type: TimeOrder, defaultValue: 'desc' }),
      ...pageArgs,
    },
    resolve: ({ id }, { filter, order, ...args }, ctx, info) =>
      pageOf({
        order: eventsByPosition(order),
        args,
        where: eventsOf(id, filter),
        read: (slice) => ctx.db.event.findMany({ ...nodeQuery('Event', ctx, info), ...slice }),
        count: (query) => ctx.db.event.count(query),
      }),
  }),
}))

/** The order of the log, whose cursors are those of the events: subscriptions take them too. */
function eventsByPosition(direction: Direction): Order<{ readonly seq: 'number' }> {
  return {
    keys: { seq: ['number', direction] },
    cursorOf: ({ seq }) => cursorOf(seq),
    positionOf: (cursor) => {
      const seq = positionOf(cursor)
      return seq === null ? null : { seq }
    },
  }
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
