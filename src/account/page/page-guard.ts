import { createHmac, timingSafeEqual } from 'node:crypto'
import { canReadOrganization } from '../../core/access.ts'
import type { Context, Database } from '../../core/context.ts'
import { Unauthenticated } from '../../core/errors.ts'
import { hashSecret } from '../../core/hash-secret.ts'
import type { PageHost } from '../../core/host-name.ts'
import { typeOfId } from '../../core/id.ts'
import { isInRanges } from '../../core/network-range.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { DAY, MINUTE, SECOND } from '../../core/time.ts'
import type { LogCache } from '../../event-log/log-cache.ts'
import { createLogCache } from '../../event-log/log-cache.ts'
import { changesPages } from '../../event-log/page-effect.ts'
import type { Follower } from '../../event-log/tail.ts'
import type { PageAccess } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { EventKind } from '../../generated/prisma/enums.ts'
import { announceKeys } from '../api-key/api-key.ts'

/** The prefix of every read token of a page; 256 random bits follow. */
export const PAGE_TOKEN_PREFIX = 'acp_'

/** How long a browser keeps access to an opened page. */
export const PAGE_COOKIE_LIFETIME = 30 * DAY

/** A page and its access settings. */
export interface GuardedPage
  extends Readonly<Pick<PageAccess, 'pageId' | 'organizationId' | 'kind' | 'passwordHash' | 'generation'>> {
  readonly slug: string
  /** Its accent colour, or that of its organization, as `#rrggbb`: all that a private page shows to strangers. */
  readonly accentColor: string
  /** Its proven custom domain; null: none. */
  readonly customDomain: string | null
  readonly mailDomains: readonly string[]
  readonly ranges: readonly string[]
  readonly tokens: readonly { readonly id: string; readonly hash: string }[]
  /** The services that it shows; null: all. */
  readonly serviceIds: readonly string[] | null
  /** The languages that it offers, by name; empty: all. */
  readonly languages: readonly string[]
  readonly defaultLanguage: string
}

/** Identifies a page, or all pages of an organization. */
export type PageName =
  | { readonly slug: string }
  | { readonly host: PageHost }
  | { readonly pageId: string }
  | { readonly organizationId: string }

/** The keys to private pages that a caller presents. */
export interface PageKeys {
  /** The read token; null: none. */
  readonly token: string | null
  /** The cookies of opened pages, by page id. */
  readonly cookies: ReadonlyMap<string, string>
  /** Whether a page of another site caused the request. The browser's network then gives no access. */
  readonly isCrossSite: boolean
}

/** The caller who wants to read a page. */
export interface PageReader extends Pick<Context, 'actor' | 'accessAddress'> {
  /** Absent: the caller presents none. */
  readonly pageKeys?: PageKeys | undefined
}

/** The right to read a page. */
export interface PagePass {
  readonly page: GuardedPage
  /** The credentials that the right depends on. `PageGuard.hold` reports when they end. */
  readonly holds: readonly string[]
}

/** Caches who can read which page, so that a request for a public page costs no query. */
export interface PageGuard {
  /** Returns the pages with this name. */
  pages(name: PageName): Promise<readonly GuardedPage[]>
  /** Returns the pages with this name if that takes no query, otherwise null. */
  known(name: PageName): readonly GuardedPage[] | null
  /** Calls `cut` when a right to read a page ends, on any instance. Returns a function that cancels this. */
  hold(id: string, cut: () => void): () => void
  /** Returns the cookie's value for an opened page. */
  sign(page: GuardedPage): string
  /** Returns whether a cookie still gives access to a page. */
  isSigned(page: GuardedPage, cookie: string): boolean
  /** Records the use of a read token, at most once a minute. */
  noteUse(tokenId: string): void
  /**
   * Marks an organization's pages as stale after new events in its log, unless the events do not change them; null: all pages.
   * @param events absent or empty: unknown.
   */
  invalidate(organizationId: string | null, events?: readonly { readonly kind: EventKind }[]): void
}

/** What finds pages by their names. */
export interface PageFinder extends Pick<Context, 'db'> {
  /** Absent: access to pages is read from the database each time. */
  readonly pageGuard?: PageGuard | undefined
}

/** The maximum number of cached page names. */
const MAX_NAMES = 20_000

/** Creates the guard. @param options.hold reports revoked credentials (`watchRevokedKeys`). */
export function createPageGuard(
  options: Pick<Context, 'db' | 'now' | 'log'> & {
    readonly seal: Pick<SecretBox, 'keyFor'>
    readonly hold: PageGuard['hold']
  },
): PageGuard {
  const { db, now, log } = options
  const key = options.seal.keyFor('cookies of pages')
  const names: LogCache<{ readonly organizationId: string | null; readonly pages: readonly GuardedPage[] }> =
    createLogCache({ maxSize: MAX_NAMES, sizeOf: () => 1, now })
  const used = new Map<string, number>()

  const macOf = ({ pageId, generation }: GuardedPage, until: string) =>
    createHmac('sha256', key).update(`${pageId} ${generation} ${until}`).digest('base64url')

  return {
    async pages(name) {
      const { value } = await names.getOrStale(JSON.stringify(name), async () => {
        const pages = await readPages(db, name)
        return { organizationId: pages[0]?.organizationId ?? null, pages }
      })
      return value.pages
    },
    known: (name) => names.current(JSON.stringify(name))?.pages ?? null,
    hold: options.hold,
    sign(page) {
      const until = String(Math.floor((now().getTime() + PAGE_COOKIE_LIFETIME) / SECOND))
      return `${until}.${macOf(page, until)}`
    },
    isSigned(page, cookie) {
      const [, until = '', mac = ''] = /^(\d{1,12})\.([\w-]{43})$/.exec(cookie) ?? []
      if (mac === '' || Number(until) * SECOND <= now().getTime()) return false
      return timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(page, until)))
    },
    noteUse(id) {
      const at = now()
      if (at.getTime() - (used.get(id) ?? 0) < MINUTE) return
      if (used.size > MAX_NAMES) used.clear()
      used.set(id, at.getTime())
      db.pageToken
        .updateMany({ where: { id }, data: { lastUsedAt: at } })
        .catch((error: unknown) =>
          log.warn({ err: error, token: id }, 'account: could not record the use of a page token'),
        )
    },
    invalidate(organizationId, events = []) {
      if (events.length === 0 || events.some(({ kind }) => changesPages('access', kind)))
        names.invalidate(organizationId)
    },
  }
}

/** Reads the pages with a name, and their access settings. A page without a row in `PageAccess` is public. */
async function readPages(db: Database, name: PageName): Promise<readonly GuardedPage[]> {
  const [column, value] =
    'slug' in name
      ? ['slug', name.slug]
      : 'host' in name
        ? ['customDomain', name.host]
        : 'pageId' in name
          ? ['id', name.pageId]
          : ['organizationId', name.organizationId]
  // Anything else must not reach the database.
  if (!/^[\w.-]{1,253}$/.test(value)) return []
  return db.$queryRaw<GuardedPage[]>`
    SELECT page.id AS "pageId", page."organizationId", page.slug, page."customDomain", owner.languages, owner."defaultLanguage",
      coalesce(page."accentColor", owner."accentColor") AS "accentColor", coalesce(access.kind, 'PUBLIC')::text AS kind,
      access."passwordHash", coalesce(access.generation, 0) AS generation,
      coalesce(access."mailDomains", '{}') AS "mailDomains", coalesce(access.ranges, '{}') AS ranges,
      coalesce((SELECT json_agg(json_build_object('id', token.id, 'hash', token.hash)) FROM "PageToken" AS token
        WHERE token."pageId" = page.id), '[]') AS tokens,
      CASE WHEN NOT page."allServices" THEN
        ARRAY(SELECT "serviceId" FROM "PageService" WHERE "pageId" = page.id) END AS "serviceIds"
    FROM "Page" AS page JOIN "Organization" AS owner ON owner.id = page."organizationId"
    LEFT JOIN "PageAccess" AS access ON access."pageId" = page.id
    WHERE page.${Prisma.raw(`"${column}"`)} = ${value} AND owner."deletedAt" IS NULL
    ORDER BY page."isFirst" DESC, page."createdAt", page.id`
}

/** Finds pages by their names. */
export type PageLookup = Pick<PageGuard, 'pages'>

/** Returns the guard of a context, or a lookup that reads from the database each time. */
export function pageLookupOf({ db, pageGuard }: PageFinder): PageLookup {
  return pageGuard ?? { pages: (name) => readPages(db, name) }
}

/** Returns the pages with a name. */
export function pagesNamed(ctx: PageFinder, name: PageName) {
  return pageLookupOf(ctx).pages(name)
}

/** Decides whether a caller can read a page; no other code does. Returns null for callers without access. */
export function passOf(guard: PageGuard | undefined, page: GuardedPage, reader: PageReader): PagePass | null {
  const { kind, pageId, organizationId, generation } = page
  const open = { page, holds: [`${pageId}#${generation}`] }
  if (kind === 'PUBLIC') return open
  if (canReadOrganization(reader.actor, organizationId)) return { page, holds: [] }
  const { pageKeys, accessAddress } = reader
  const hash = pageKeys?.token?.startsWith(PAGE_TOKEN_PREFIX) ? hashSecret(pageKeys.token) : null
  const token = page.tokens.find((each) => each.hash === hash)
  if (token) {
    guard?.noteUse(token.id)
    return { page, holds: [token.id] }
  }
  switch (kind) {
    case 'MEMBERS':
      return null
    case 'ADDRESSES':
      return accessAddress && !pageKeys?.isCrossSite && opensByAddress(page, accessAddress) ? open : null
    case 'PASSWORD':
    case 'MAIL_DOMAIN': {
      const cookie = pageKeys?.cookies.get(pageId)
      return cookie !== undefined && guard?.isSigned(page, cookie) ? open : null
    }
  }
}

/** Returns whether the page admits an address, and the request came by a name whose owner may lead browsers to the page. */
function opensByAddress(
  { ranges, customDomain }: GuardedPage,
  { address, host }: NonNullable<PageReader['accessAddress']>,
): boolean {
  return (host === null || host === customDomain) && isInRanges(ranges, address)
}

/**
 * Requires that the caller can read the page with this name, or a page of the organization. Returns null when none exists.
 * @throws Unauthenticated when all of them are private to the caller.
 */
export async function requirePage(ctx: PageReader & PageFinder, name: PageName): Promise<PagePass | null> {
  const pages = await pagesNamed(ctx, name)
  for (const page of pages) {
    const pass = passOf(ctx.pageGuard, page, ctx)
    if (pass !== null) return pass
  }
  if (pages.length > 0) throw pageIsPrivate()
  return null
}

/** An object that pages show, by its id, and its organization. */
export interface PageThing {
  readonly id: string
  readonly organizationId: string
  /** The incident, if the object is its update. */
  readonly incidentId?: string
  readonly maintenanceId?: string
}

/**
 * Requires that the caller can read a page that shows an object. Every page shows incidents and maintenance without services.
 * Returns null when the organization has no page. @throws Unauthenticated when all pages that show it are private to the caller.
 */
export async function requireThing(ctx: PageReader & PageFinder, thing: PageThing): Promise<PagePass | null> {
  const pages = await pagesNamed(ctx, { organizationId: thing.organizationId })
  if (pages.length === 0) return null
  const passes = pages.flatMap((page) => passOf(ctx.pageGuard, page, ctx) ?? [])
  const whole = passes.find(({ page }) => page.serviceIds === null) ?? (passes.length === pages.length && passes[0])
  const pass = whole || (await passShowing(ctx.db, passes, thing))
  if (pass === null) throw pageIsPrivate()
  return pass
}

/**
 * Returns the page on which the caller sees an object that is requested by its id: of the pages that the caller can read, one that
 * shows all services, otherwise the first that shows the object; null: no page shows it. @throws Unauthenticated when all pages
 * that show it are private to the caller.
 */
export async function pageShowing(ctx: PageReader & PageFinder, thing: PageThing): Promise<PagePass | null> {
  const pages = await pagesNamed(ctx, { organizationId: thing.organizationId })
  const passes = pages.flatMap((page) => passOf(ctx.pageGuard, page, ctx) ?? [])
  const whole = passes.find(({ page }) => page.serviceIds === null)
  if (whole || pages.length === 0) return whole ?? null
  const shown = await passShowing(ctx.db, passes, thing)
  if (shown === null && passes.length < pages.length) throw pageIsPrivate()
  return shown
}

/** Returns the first pass for a page that shows an object; null: none. */
async function passShowing(db: Database, passes: readonly PagePass[], thing: PageThing): Promise<PagePass | null> {
  if (passes.length === 0) return null
  const concerned = await servicesOf(db, thing)
  const isShown = ({ page }: PagePass) => concerned === null || concerned.some((id) => page.serviceIds?.includes(id))
  return passes.find(isShown) ?? null
}

/** Returns the services that an object concerns; null: every page shows it. */
async function servicesOf(
  db: Database,
  { id, incidentId, maintenanceId }: PageThing,
): Promise<readonly string[] | null> {
  const type = typeOfId(id)
  if (type === 'Service') return [id]
  if (type === 'ServiceGroup') {
    const services = await db.service.findMany({ where: { groupId: id }, select: { id: true } })
    return services.map((service) => service.id)
  }
  const links =
    type === 'Maintenance' || type === 'MaintenanceUpdate'
      ? await db.maintenanceService.findMany({ where: { maintenanceId: maintenanceId ?? id } })
      : await db.incidentService.findMany({ where: { incidentId: incidentId ?? id } })
  return links.length === 0 ? null : links.map(({ serviceId }) => serviceId)
}

/** Returns the ids that belong to updates of public incidents. */
export async function publicUpdateIds(db: Database, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const where = { id: { in: [...ids] }, incident: { visibility: 'PUBLIC' as const } }
  return new Set((await db.incidentUpdate.findMany({ where, select: { id: true } })).map(({ id }) => id))
}

/** Creates the error for callers without access to a page. It reveals nothing about the page. */
function pageIsPrivate(): Unauthenticated {
  return new Unauthenticated(
    'UNAUTHENTICATED',
    'This status page is private. Send a read token of the page: Authorization: Bearer acp_….',
  )
}

/** Follows the log of a page, until the right to read the page ends. */
export interface PageFollower extends Follower {
  /** Whether it has ended because the right to read the page has ended. */
  readonly isCut: boolean
}

/** Ends a follower when the right to read its page ends. */
export function followWithPass(guard: PageGuard | undefined, pass: PagePass, follower: Follower): PageFollower {
  let isCut = false
  const cut = () => {
    isCut = true
    void follower.return()
  }
  const releases = guard === undefined ? [] : pass.holds.map((id) => guard.hold(id, cut))
  return {
    get position() {
      return follower.position
    },
    get isCut() {
      return isCut
    },
    next: () => follower.next(),
    poll: () => follower.poll(),
    return() {
      for (const release of releases) release()
      return follower.return()
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Announces, when the transaction commits, that access given in a generation of a page has ended or a read token is revoked. */
export function announcePage(db: Database, hold: string): Promise<void> {
  return announceKeys(db, hold)
}
