import { visibleTo } from '../../account/deletion.ts'
import { logoUrlAt } from '../../account/logo.ts'
import type { PageLink } from '../../account/page-settings.ts'
import { linksOf, slugText } from '../../account/page-settings.ts'
import { encodeCursor } from '../../event-log/event.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { UptimeSource } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { CACHEABLE, cacheable } from '../../graphql/cacheable.ts'
import { connectionOf, pageArgs } from '../../graphql/connection.ts'
import { costs, rows, STATEMENT_COST, text } from '../../graphql/cost.ts'
import { listCosts, TIMELINE_SEARCH_COST } from '../../graphql/filter.ts'
import { batchPerOperation } from '../../graphql/loader.ts'
import { MAX_SERVICES } from '../ownership.ts'
import { readPageStatuses } from '../page-status.ts'
import type { PageStatus } from '../shown-status.ts'
import { inPageOrder } from './connections.ts'
import { StatusIndicator } from './enums.ts'
import { IncidentOrder, incidentPage, PastIncidentFilter } from './incident-list.ts'
import { MaintenanceFilter, MaintenanceOrder, maintenancePage } from './maintenance-list.ts'

const PageLinkRef = builder.objectRef<PageLink>('PageLink').implement({
  description: 'A link on a status page.',
  extensions: cacheable('label', 'url'),
  fields: (t) => ({
    label: t.exposeString('label', { description: 'The text of the link.' }),
    url: t.exposeString('url', { extensions: text(2000), description: 'The URL of the link.' }),
  }),
})

/** A page has at most ten links. */
const LINKS = costs({ items: 10 })

const PageStatusRef = builder.objectRef<PageStatus>('PageStatus').implement({
  description: 'The overall status of a page.',
  extensions: cacheable('indicator', 'description', 'unknownSince'),
  fields: (t) => ({
    indicator: t.expose('indicator', {
      type: StatusIndicator,
      description: 'The worst status of its services and open incidents.',
    }),
    description: t.exposeString('description', {
      extensions: text(2000),
      description: 'The status in a few words, or a note that monitoring is silent.',
    }),
    unknownSince: t.expose('unknownSince', {
      type: 'DateTime',
      nullable: true,
      description:
        'When monitoring became silent. The indicator is then MINOR, because the status is unknown. Null: monitoring is not silent, or a worse status is known.',
    }),
  }),
})

const open = { status: { not: 'RESOLVED' } } satisfies Prisma.IncidentWhereInput
const resolved = { status: 'RESOLVED' } satisfies Prisma.IncidentWhereInput
const newestStartFirst = [{ startedAt: 'desc' }, { id: 'desc' }] satisfies Prisma.IncidentOrderByWithRelationInput[]
const ended = { status: { in: ['COMPLETED', 'CANCELLED'] } } satisfies Prisma.MaintenanceWhereInput
const announced = { status: { in: ['SCHEDULED', 'IN_PROGRESS', 'VERIFYING'] } } satisfies Prisma.MaintenanceWhereInput

/**
 * These lists are read with statements of their own: for a nested list, Prisma would read all rows and take the first.
 */
const MAX_ITEMS = 100

/** The statuses that were read with the rows of pages. */
export const statusOfPage = new WeakMap<object, PageStatus>()

const loadStatus = batchPerOperation(({ db }, ids: readonly string[]) => readPageStatuses(db, ids))

/**
 * The public page of an organization, which anybody may read by slug or id. Its row is read before its content, so that
 * the cursor is never newer than the content, and a subscription from it misses nothing.
 */
export const StatusPage = builder.prismaNode('Organization', {
  variant: 'StatusPage',
  id: { field: 'pageId' },
  nullable: true,
  description: 'The public status page of an organization.',
  extensions: cacheable(
    'id',
    'slug',
    'name',
    'description',
    'timeZone',
    'accentColor',
    'logoUrl',
    'links',
    'uptimeSource',
    'customDomain',
    'cursor',
    'status',
    'services',
    'serviceGroups',
    'incidents',
    'maintenances',
    'pastIncidents',
    'pastMaintenances',
  ),
  fields: (t) => ({
    slug: t.exposeString('slug', { description: 'The organization’s name in URLs.' }),
    name: t.exposeString('name', { description: 'The organization’s name.' }),
    description: t.exposeString('description', {
      extensions: text(2000),
      description: 'The page’s description. Empty: none.',
    }),
    timeZone: t.exposeString('timeZone', { description: 'The time zone of the page, such as Europe/Berlin.' }),
    accentColor: t.exposeString('accentColor', { description: 'The accent colour, as `#rrggbb`.' }),
    logoUrl: t.string({
      extensions: text(2000),
      nullable: true,
      description: 'The URL of the logo. Null: none.',
      resolve: ({ logoUrl }, _args, { site }) => logoUrlAt(site.baseUrl, logoUrl),
    }),
    links: t.field({
      type: [PageLinkRef],
      extensions: LINKS,
      resolve: linksOf,
      description: 'Links for visitors.',
    }),
    uptimeSource: t.expose('uptimeSource', {
      type: UptimeSource,
      description: 'What the uptime of its services counts.',
    }),
    customDomain: t.exposeString('customDomain', {
      nullable: true,
      description: 'The custom domain of the page, while it is proven. Null: none.',
    }),
    cursor: t.string({
      description: 'The page’s position in the event log. Subscribe with `after: cursor` to get all later events.',
      resolve: ({ lastSeq }) => encodeCursor(lastSeq),
    }),
    status: t.field({
      type: PageStatusRef,
      extensions: costs({ rows: { most: MAX_SERVICES, size: 'services' } }),
      description: 'The overall status of the page.',
      resolve: (page, _args, ctx) => statusOfPage.get(page) ?? loadStatus(ctx, page.id),
    }),
    services: t.relation('services', {
      extensions: rows(MAX_SERVICES, 'services'),
      description: 'All services, in page order.',
      query: { orderBy: inPageOrder },
    }),
    serviceGroups: t.relation('serviceGroups', {
      extensions: rows(MAX_SERVICES, 'serviceGroups'),
      description: 'The service groups, in page order.',
      query: { orderBy: inPageOrder },
    }),
    incidents: t.prismaField({
      type: ['Incident'],
      extensions: rows(MAX_ITEMS, 'openIncidents'),
      description: 'Open incidents, newest first, at most 100.',
      resolve: (query, { id }, _args, { db }) =>
        db.incident.findMany({
          ...query,
          where: { organizationId: id, ...open },
          orderBy: newestStartFirst,
          take: MAX_ITEMS,
        }),
    }),
    maintenances: t.prismaField({
      type: ['Maintenance'],
      extensions: rows(MAX_ITEMS, 'plannedMaintenances'),
      description: 'Current and scheduled maintenance, by start time, at most 100.',
      resolve: (query, { id }, _args, { db }) =>
        db.maintenance.findMany({
          ...query,
          where: { organizationId: id, ...announced },
          orderBy: [{ startsAt: 'asc' }, { id: 'asc' }],
          take: MAX_ITEMS,
        }),
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
      resolve: ({ id }, args, ctx, info) => incidentPage(ctx, info, { organizationId: id, ...resolved }, args),
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
      resolve: ({ id }, args, ctx, info) => maintenancePage(ctx, info, { organizationId: id, ...ended }, args),
    }),
  }),
})

builder.queryField('statusPage', (t) =>
  t.prismaField({
    extensions: { ...CACHEABLE, ...costs({ itself: STATEMENT_COST, about: ({ slug }) => ({ slug: String(slug) }) }) },
    type: StatusPage,
    nullable: true,
    description: 'The public status page with this slug. Null: it does not exist.',
    args: { slug: t.arg.string({ description: 'The organization’s name in URLs.' }) },
    resolve: async (query, _root, { slug }, { db, actor, shown }) => {
      const page = slugText.safeParse(slug).success
        ? await db.organization.findUnique({ ...query, where: { slug, ...visibleTo(actor) } })
        : null
      shown?.organizationIds.add(page?.id ?? null)
      return page
    },
  }),
)

builder.prismaObjectFields('Organization', (t) => ({
  description: t.exposeString('description', { extensions: text(2000), description: 'The description on its page.' }),
  accentColor: t.exposeString('accentColor', { description: 'The accent colour of the page, as `#rrggbb`.' }),
  logoUrl: t.string({
    extensions: text(2000),
    nullable: true,
    description: 'The URL of its logo. Null: none.',
    resolve: ({ logoUrl }, _args, { site }) => logoUrlAt(site.baseUrl, logoUrl),
  }),
  links: t.field({
    type: [PageLinkRef],
    extensions: LINKS,
    description: 'Links for visitors.',
    resolve: linksOf,
  }),
  uptimeSource: t.expose('uptimeSource', {
    type: UptimeSource,
    description: 'What the uptime of its services counts.',
  }),
  customDomain: t.exposeString('customDomain', {
    nullable: true,
    description: 'The custom domain of its page, while it is proven. Null: none.',
  }),
  version: t.exposeInt('version', { description: 'The version of these settings, incremented by every edit.' }),
  statusPage: t.variant(StatusPage, { description: 'Its public status page.' }),
}))
