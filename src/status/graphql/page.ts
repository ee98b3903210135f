import { existingFor } from '../../account/deletion.ts'
import type { PageLink } from '../../account/page-settings.ts'
import { linksOf, slugText } from '../../account/page-settings.ts'
import { cursorOf } from '../../eventlog/event.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { builder } from '../../graphql/builder.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/connection.ts'
import { costs, STATEMENT } from '../../graphql/cost.ts'
import { pageOf } from '../../graphql/keyset.ts'
import type { PageStatus } from '../shown-status.ts'
import { byPeople, causesOfStatus, pageStatus, shownBy } from '../shown-status.ts'
import { incidentsByStart, inPageOrder, maintenancesByStart } from './lists.ts'
import { StatusIndicator } from './words.ts'

const PageLinkRef = builder.objectRef<PageLink>('PageLink').implement({
  description: 'Where else a page’s visitors may want to go.',
  fields: (t) => ({
    label: t.exposeString('label', { description: 'The text of the link.' }),
    url: t.exposeString('url', { description: 'Where the link leads.' }),
  }),
})

const PageStatusRef = builder.objectRef<PageStatus>('PageStatus').implement({
  description: 'How a page as a whole is doing.',
  fields: (t) => ({
    indicator: t.expose('indicator', {
      type: StatusIndicator,
      description: 'The worst of its services and open incidents.',
    }),
    description: t.exposeString('description', {
      description: 'The indicator in a few words, or that monitoring has been silent.',
    }),
    unknownSince: t.expose('unknownSince', {
      type: 'DateTime',
      nullable: true,
      description:
        'Since when monitoring has been silent; the indicator is MINOR then, for nothing says that all is well. Null: it is not, or something worse is known.',
    }),
  }),
})

const open = { status: { not: 'RESOLVED' } } satisfies Prisma.IncidentWhereInput
const resolved = { status: 'RESOLVED' } satisfies Prisma.IncidentWhereInput
const newestStartFirst = [{ startedAt: 'desc' }, { id: 'desc' }] satisfies Prisma.IncidentOrderByWithRelationInput[]
const over = { status: { in: ['COMPLETED', 'CANCELLED'] } } satisfies Prisma.MaintenanceWhereInput
const announced = { status: { in: ['SCHEDULED', 'IN_PROGRESS', 'VERIFYING'] } } satisfies Prisma.MaintenanceWhereInput

/** Asked for by statements of their own: in a nested one Prisma would read all and then take the first. */
const MOST = 100

/**
 * The public page of an organization: what it shows may be read by anybody who knows its slug. The row is read before what
 * belongs to it, so that its cursor is never newer than the rest, and who subscribes from it misses nothing.
 */
export const StatusPage = builder.prismaObject('Organization', {
  variant: 'StatusPage',
  description: 'The public status page of an organization.',
  fields: (t) => ({
    slug: t.exposeString('slug', { description: 'The organization’s name in addresses.' }),
    name: t.exposeString('name', { description: 'The organization’s name.' }),
    description: t.exposeString('description', {
      description: 'What the page says about the organization; empty: nothing.',
    }),
    timeZone: t.exposeString('timeZone', { description: 'In which the page shows times, such as Europe/Berlin.' }),
    accentColor: t.exposeString('accentColor', { description: 'As #rrggbb.' }),
    logoUrl: t.exposeString('logoUrl', {
      nullable: true,
      description: 'The address of the logo; null: none.',
    }),
    links: t.field({ type: [PageLinkRef], resolve: linksOf, description: 'Where else visitors may want to go.' }),
    customDomain: t.exposeString('customDomain', { nullable: true, description: 'Where else the page is served.' }),
    cursor: t.string({
      description: 'The position in the event log that the page is read at: subscribe with `after: cursor`.',
      resolve: ({ lastSeq }) => cursorOf(lastSeq),
    }),
    status: t.field({
      type: PageStatusRef,
      description: 'How the page as a whole is doing.',
      select: {
        services: { select: causesOfStatus, orderBy: inPageOrder },
        incidents: { where: { ...open, ...byPeople }, select: { impact: true } },
      },
      resolve: ({ services, incidents }) =>
        pageStatus(
          services.map(shownBy),
          incidents.map(({ impact }) => impact),
        ),
    }),
    services: t.relation('services', {
      extensions: costs({ items: 50 }),
      description: 'Every service, in the order of the page.',
      query: { orderBy: inPageOrder },
    }),
    serviceGroups: t.relation('serviceGroups', {
      extensions: costs({ items: 50 }),
      description: 'In the order of the page.',
      query: { orderBy: inPageOrder },
    }),
    incidents: t.prismaField({
      type: ['Incident'],
      extensions: costs({ items: 100 }),
      description: 'The open ones, newest first; at most 100.',
      resolve: (query, { id }, _args, { db }) =>
        db.incident.findMany({
          ...query,
          where: { organizationId: id, ...open },
          orderBy: newestStartFirst,
          take: MOST,
        }),
    }),
    maintenances: t.prismaField({
      type: ['Maintenance'],
      extensions: costs({ items: 100 }),
      description: 'Those that run or are planned, in the order they start; at most 100.',
      resolve: (query, { id }, _args, { db }) =>
        db.maintenance.findMany({
          ...query,
          where: { organizationId: id, ...announced },
          orderBy: [{ startsAt: 'asc' }, { id: 'asc' }],
          take: MOST,
        }),
    }),
    pastIncidents: t.field({
      type: connectionOf('Incident'),
      description: 'The resolved ones, newest first.',
      args: pageArgs,
      resolve: ({ id }, args, ctx, info) =>
        pageOf({
          order: incidentsByStart('desc'),
          args,
          where: { organizationId: id, ...resolved },
          read: (slice) => ctx.db.incident.findMany({ ...nodeQuery('Incident', ctx, info), ...slice }),
          count: (query) => ctx.db.incident.count(query),
        }),
    }),
    pastMaintenances: t.field({
      type: connectionOf('Maintenance'),
      description: 'Those that are over or were called off, newest first.',
      args: pageArgs,
      resolve: ({ id }, args, ctx, info) =>
        pageOf({
          order: maintenancesByStart('desc'),
          args,
          where: { organizationId: id, ...over },
          read: (slice) => ctx.db.maintenance.findMany({ ...nodeQuery('Maintenance', ctx, info), ...slice }),
          count: (query) => ctx.db.maintenance.count(query),
        }),
    }),
  }),
})

builder.queryField('statusPage', (t) =>
  t.prismaField({
    extensions: costs({ itself: STATEMENT }),
    type: StatusPage,
    nullable: true,
    description: 'A public status page; null when there is none of that slug.',
    args: { slug: t.arg.string({ description: 'The organization’s name in addresses.' }) },
    resolve: (query, _root, { slug }, { db, actor }) =>
      slugText.safeParse(slug).success
        ? db.organization.findUnique({ ...query, where: { slug, ...existingFor(actor) } })
        : null,
  }),
)

builder.prismaObjectFields('Organization', (t) => ({
  description: t.exposeString('description', { description: 'What its page says of it.' }),
  accentColor: t.exposeString('accentColor', { description: 'The colour of its page, as #rrggbb.' }),
  logoUrl: t.exposeString('logoUrl', { nullable: true, description: 'The address of its logo; null: none.' }),
  links: t.field({ type: [PageLinkRef], description: 'Where else visitors may want to go.', resolve: linksOf }),
  customDomain: t.exposeString('customDomain', { nullable: true, description: 'Where else its page is served.' }),
  version: t.exposeInt('version', { description: 'Raised by every edit of these settings.' }),
}))
