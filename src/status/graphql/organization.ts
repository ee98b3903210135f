import { encodeCursor } from '../../event-log/event.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/list/connection.ts'
import { listCosts, NAME_SEARCH_COST, TIMELINE_SEARCH_COST } from '../../graphql/list/filter.ts'
import { pageOf } from '../../graphql/list/keyset.ts'
import { builder } from './builder.ts'
import { groupsInPageOrder, seriesNewestFirst } from './connections.ts'
import { EventFilter, EventOrder, eventPage, requireKept } from './event-list.ts'
import { IncidentFilter, IncidentOrder, incidentPage } from './incident-list.ts'
import { MaintenanceFilter, MaintenanceOrder, maintenancePage } from './maintenance-list.ts'
import { fullReadCost, ServiceFilter, ServiceOrder, servicePage } from './service-list.ts'

/** The organization's page content and events. Like `Organization` itself, they require one of its keys. */
builder.prismaObjectFields('Organization', (t) => ({
  services: t.field({
    type: connectionOf('Service'),
    description: 'The services, in page order unless `orderBy` is given.',
    extensions: listCosts(NAME_SEARCH_COST, fullReadCost),
    args: {
      filter: t.arg({ type: ServiceFilter, required: false }),
      orderBy: t.arg({ type: ServiceOrder, required: false }),
      ...pageArgs,
    },
    resolve: ({ id }, args, ctx, info) => servicePage(ctx, info, id, args),
  }),
  serviceGroups: t.field({
    type: connectionOf('ServiceGroup'),
    description: 'The service groups, in page order.',
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
    description: 'All incidents, by start time, newest first.',
    extensions: listCosts(TIMELINE_SEARCH_COST),
    args: {
      filter: t.arg({ type: IncidentFilter, required: false }),
      orderBy: t.arg({ type: IncidentOrder, required: false }),
      ...pageArgs,
    },
    resolve: ({ id }, args, ctx, info) => incidentPage(ctx, info, { organizationId: id }, args),
  }),
  maintenances: t.field({
    type: connectionOf('Maintenance'),
    description: 'All maintenance, by start time, newest first.',
    extensions: listCosts(TIMELINE_SEARCH_COST),
    args: {
      filter: t.arg({ type: MaintenanceFilter, required: false }),
      orderBy: t.arg({ type: MaintenanceOrder, required: false }),
      ...pageArgs,
    },
    resolve: ({ id }, args, ctx, info) => maintenancePage(ctx, info, { organizationId: id }, args),
  }),
  maintenanceSeries: t.field({
    type: connectionOf('MaintenanceSeries'),
    description: 'The repeating maintenances, newest first.',
    args: pageArgs,
    resolve: ({ id }, args, ctx, info) =>
      pageOf({
        order: seriesNewestFirst,
        args,
        where: { organizationId: id },
        read: (slice) => ctx.db.maintenanceSeries.findMany({ ...nodeQuery('MaintenanceSeries', ctx, info), ...slice }),
        count: (query) => ctx.db.maintenanceSeries.count(query),
      }),
  }),
  events: t.field({
    type: connectionOf('Event'),
    description: 'The audit trail: all events, newest first.',
    args: {
      filter: t.arg({ type: EventFilter, required: false }),
      orderBy: t.arg({ type: EventOrder, required: false }),
      ...pageArgs,
    },
    resolve: async ({ id }, args, ctx, info) => {
      await requireKept(ctx, id, args)
      return eventPage(ctx, info, id, args)
    },
  }),
  cursor: t.string({
    description: 'The position of the newest event. Pass it as `after` to `organizationEvents` to get all later ones.',
    select: { lastSeq: true },
    resolve: ({ lastSeq }) => encodeCursor(lastSeq),
  }),
  eventsSince: t.expose('eventsSince', {
    type: 'DateTime',
    nullable: true,
    description:
      'The log is complete from this time on. Earlier events may have been deleted because of their age. Null: none were deleted.',
  }),
}))
