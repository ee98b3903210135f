import { MAX_PAGES } from '../../account/limits.ts'
import { visibleTo } from '../../account/organization/deletion.ts'
import { logoUrlAt } from '../../account/page/logo.ts'
import type { Page } from '../../account/page/page.ts'
import { readPages } from '../../account/page/page.ts'
import type { PageLink } from '../../account/page/page-settings.ts'
import { linksOf, slugText } from '../../account/page/page-settings.ts'
import { encodeCursor } from '../../event-log/event.ts'
import { UptimeSource } from '../../generated/prisma/enums.ts'
import { costs, rows, STATEMENT_COST, text } from '../../graphql/document/cost.ts'
import { CACHEABLE, cacheable } from '../../graphql/execution/cacheable.ts'
import { batchPerOperation } from '../../graphql/execution/loader.ts'
import type { GraphContext } from '../../graphql/schema/builder.ts'
import { ownerOnly } from '../../graphql/schema/owner-only.ts'
import { VERSION } from '../../graphql/schema/version.ts'
import { Language } from '../../language/catalogue.ts'
import { offeredLanguages } from '../../language/choice.ts'
import { MAX_SERVICES } from '../ownership.ts'
import { readPageStatuses } from '../page/page-status.ts'
import type { PageStatus } from '../service/shown-status.ts'
import { builder } from './builder.ts'
import { StatusIndicator } from './enums.ts'

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
      description: 'The status in a few words, or a note on what is missing: monitoring data, a status, or services.',
    }),
    unknownSince: t.expose('unknownSince', {
      type: 'DateTime',
      nullable: true,
      description:
        'Since when the status of a service has been unknown; of several services, the latest time. The indicator is then MINOR. Null: no status is unknown, only those without a first result or a stated status are, or a worse status is known.',
    }),
  }),
})

/** The statuses that were read together with the rows of pages. */
export const statusOfPage = new WeakMap<object, PageStatus>()

const loadStatus = batchPerOperation(({ db }, pages: readonly Page[]) => readPageStatuses(db, pages))

/** Reads pages by slug or id together with the other pages of the operation. */
const loadPage = batchPerOperation(async ({ db }, ids: readonly string[]) => {
  const found = new Map((await readPages(db, 'id', ids, { withDeleted: true })).map((page) => [page.id, page]))
  return ids.map((id) => found.get(id) ?? null)
})

/**
 * A public page, which anyone can read by slug or id. Its row is read before its content, so that the cursor is never
 * newer than the content, and a subscription from it misses nothing.
 */
export const StatusPage = builder.objectRef<Page>('StatusPage')

builder.node(StatusPage, {
  id: { resolve: ({ id }) => id },
  loadWithoutCache: (id, ctx) => loadPage(ctx, id),
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'serviceIds' in value && 'isFirst' in value,
  description: 'A public status page of an organization.',
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
    'languages',
    'defaultLanguage',
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
    slug: t.exposeString('slug', { description: 'Its name in URLs. The first page has that of its organization.' }),
    name: t.exposeString('name', { description: 'The organization’s name, or the page’s own.' }),
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
      description: 'What counts towards the uptime of its services.',
    }),
    languages: t.field({
      type: [Language],
      description: 'The languages that the page offers.',
      resolve: (page) => [...offeredLanguages(page.languages, page.defaultLanguage).offered],
    }),
    defaultLanguage: t.field({
      type: Language,
      description: 'The language for readers who accept none of the others.',
      resolve: (page) => offeredLanguages(page.languages, page.defaultLanguage).byDefault,
    }),
    customDomain: t.exposeString('customDomain', {
      nullable: true,
      description: 'The custom domain of the page, while it is proven. Null: none.',
    }),
    allServices: t.boolean({
      nullable: true,
      authScopes: ownerOnly,
      description: 'Whether it shows all services, including those created later. Requires a key of the organization.',
      resolve: ({ serviceIds }) => serviceIds === null,
    }),
    version: t.exposeInt('version', VERSION),
    cursor: t.string({
      description: 'The page’s position in the event log. Subscribe with `after: cursor` to get all later events.',
      resolve: ({ lastSeq }) => encodeCursor(lastSeq),
    }),
    status: t.field({
      type: PageStatusRef,
      extensions: costs({ rows: { max: MAX_SERVICES, size: 'services' } }),
      description: 'The overall status of the page.',
      resolve: (page, _args, ctx) => statusOfPage.get(page) ?? loadStatus(ctx, page),
    }),
  }),
})

builder.queryField('statusPage', (t) =>
  t.field({
    extensions: { ...CACHEABLE, ...costs({ itself: STATEMENT_COST, about: ({ slug }) => ({ slug: String(slug) }) }) },
    type: StatusPage,
    nullable: true,
    description: 'The public status page with this slug. Null: it does not exist.',
    args: { slug: t.arg.string({ description: 'The page’s name in URLs.' }) },
    resolve: async (_root, { slug }, { db, actor, shown }) => {
      const withDeleted = visibleTo(actor).deletedAt === undefined
      const [page = null] = slugText.safeParse(slug).success ? await readPages(db, 'slug', [slug], { withDeleted }) : []
      shown?.organizationIds.add(page?.organizationId ?? null)
      return page
    },
  }),
)

/** The first page of an organization. */
const firstPageOf = async (ctx: GraphContext, { pageId }: { readonly pageId: string }) => {
  const page = await loadPage(ctx, pageId)
  if (page === null) throw new Error('The organization has no first page.')
  return page
}

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
    description: 'What counts towards the uptime of its services.',
  }),
  languages: t.field({
    type: [Language],
    description: 'The languages that its pages offer.',
    resolve: (owner) => [...offeredLanguages(owner.languages, owner.defaultLanguage).offered],
  }),
  defaultLanguage: t.field({
    type: Language,
    description: 'The language for readers who accept none of the others.',
    resolve: (owner) => offeredLanguages(owner.languages, owner.defaultLanguage).byDefault,
  }),
  customDomain: t.string({
    nullable: true,
    extensions: costs({ itself: STATEMENT_COST }),
    description: 'The custom domain of its first page, while it is proven. Null: none.',
    resolve: async (organization, _args, ctx) => (await firstPageOf(ctx, organization)).customDomain,
  }),
  version: t.exposeInt('version', { description: 'The version of these settings, incremented by every edit.' }),
  statusPage: t.field({
    type: StatusPage,
    extensions: costs({ itself: STATEMENT_COST }),
    description: 'Its first status page.',
    resolve: (organization, _args, ctx) => firstPageOf(ctx, organization),
  }),
  pages: t.field({
    type: [StatusPage],
    extensions: rows(MAX_PAGES, 'pages'),
    description: 'Its status pages, the first one first.',
    resolve: ({ id }, _args, { db }) => readPages(db, 'organizationId', [id], { withDeleted: true }),
  }),
}))
