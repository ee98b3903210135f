import type { Prisma } from '../../generated/prisma/client.ts'
import { rows } from '../../graphql/document/cost.ts'
import { connectionOf, pageArgs } from '../../graphql/list/connection.ts'
import { listCosts, TIMELINE_SEARCH_COST } from '../../graphql/list/filter.ts'
import { MAX_SERVICES } from '../ownership.ts'
import { incidentsOnPage, onPage } from '../page-scope.ts'
import { builder } from './builder.ts'
import { inPageOrder } from './connections.ts'
import { IncidentOrder, incidentPage, PastIncidentFilter } from './incident-list.ts'
import { MaintenanceFilter, MaintenanceOrder, maintenancePage } from './maintenance-list.ts'
import { StatusPage } from './page.ts'
import { below } from './page-scope.ts'

const open = { status: { not: 'RESOLVED' } } satisfies Prisma.IncidentWhereInput
const resolved = { status: 'RESOLVED' } satisfies Prisma.IncidentWhereInput
const newestStartFirst = [{ startedAt: 'desc' }, { id: 'desc' }] satisfies Prisma.IncidentOrderByWithRelationInput[]
const ended = { status: { in: ['COMPLETED', 'CANCELLED'] } } satisfies Prisma.MaintenanceWhereInput
const announced = { status: { in: ['SCHEDULED', 'IN_PROGRESS', 'VERIFYING'] } } satisfies Prisma.MaintenanceWhereInput

/**
 * The maximum number of items. The lists have statements of their own: Prisma would read all rows of a nested list
 * first.
 */
const MAX_ITEMS = 100

builder.objectFields(StatusPage, (t) => ({
  services: t.prismaField({
    type: ['Service'],
    extensions: rows(MAX_SERVICES, 'services'),
    description: 'Its services, in page order.',
    resolve: async (query, page, _args, { db }, info) => {
      below(info.path, page)
      const { organizationId, serviceIds } = page
      const id = serviceIds === null ? undefined : { in: [...serviceIds] }
      const where = { organizationId, ...(id && { id }) }
      const found = await db.service.findMany({ ...query, where, orderBy: inPageOrder })
      if (serviceIds === null) return found
      return found.toSorted((one, other) => serviceIds.indexOf(one.id) - serviceIds.indexOf(other.id))
    },
  }),
  serviceGroups: t.prismaField({
    type: ['ServiceGroup'],
    extensions: rows(MAX_SERVICES, 'serviceGroups'),
    description: 'The groups of its services, in page order.',
    resolve: (query, page, _args, { db }, info) => {
      below(info.path, page)
      const { organizationId, serviceIds } = page
      const services = serviceIds === null ? undefined : { some: { id: { in: [...serviceIds] } } }
      const where = { organizationId, ...(services && { services }) }
      return db.serviceGroup.findMany({ ...query, where, orderBy: inPageOrder })
    },
  }),
  incidents: t.prismaField({
    type: ['Incident'],
    extensions: rows(MAX_ITEMS, 'openIncidents'),
    description: 'Open incidents, newest first, at most 100.',
    resolve: (query, page, _args, { db }, info) => {
      below(info.path, page)
      const where = { ...incidentsOnPage(page), ...open }
      return db.incident.findMany({ ...query, where, orderBy: newestStartFirst, take: MAX_ITEMS })
    },
  }),
  maintenances: t.prismaField({
    type: ['Maintenance'],
    extensions: rows(MAX_ITEMS, 'plannedMaintenances'),
    description: 'Current and scheduled maintenance, by start time, at most 100.',
    resolve: (query, page, _args, { db }, info) => {
      below(info.path, page)
      return db.maintenance.findMany({
        ...query,
        where: { ...onPage(page), ...announced },
        orderBy: [{ startsAt: 'asc' }, { id: 'asc' }],
        take: MAX_ITEMS,
      })
    },
  }),
  pastIncidents: t.field({
    type: connectionOf('Incident'),
    description: 'Resolved incidents, newest first.',
    extensions: listCosts(TIMELINE_SEARCH_COST),
    args: {
      filter: t.arg({ type: PastIncidentFilter, required: false }),
      orderBy: t.arg({ type: IncidentOrder, required: false }),
      ...pageArgs,
    },
    resolve: (page, args, ctx, info) => {
      below(info.path, page)
      return incidentPage(ctx, info, { ...incidentsOnPage(page), ...resolved }, args)
    },
  }),
  pastMaintenances: t.field({
    type: connectionOf('Maintenance'),
    description: 'Completed and cancelled maintenance, newest first.',
    extensions: listCosts(TIMELINE_SEARCH_COST),
    args: {
      filter: t.arg({ type: MaintenanceFilter, required: false }),
      orderBy: t.arg({ type: MaintenanceOrder, required: false }),
      ...pageArgs,
    },
    resolve: (page, args, ctx, info) => {
      below(info.path, page)
      return maintenancePage(ctx, info, { ...onPage(page), ...ended }, args)
    },
  }),
}))
