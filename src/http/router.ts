import type { HttpBindings } from '@hono/node-server'
import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { checksPerDay } from '../account/plan.ts'
import { startCheck } from '../blacklist/check.ts'
import type { ListInfos } from '../blacklist/html/landing.tsx'
import { checkPages, checkScript } from '../blacklist/html.tsx'
import { blacklistPaths } from '../blacklist/openapi.ts'
import { BLACKLIST_PATH, blacklistRoutes } from '../blacklist/rest.ts'
import { isCheckable } from '../blacklist/target.ts'
import { NotFound } from '../errors.ts'
import { liveScript, statusPages, statusSheet } from '../page/html.tsx'
import type { PageCache } from '../page/page-cache.ts'
import type { Parts } from './caller.ts'
import { callerOf, contextOf, visitorContext } from './caller.ts'
import { docsRoutes, docsScript } from './docs.tsx'
import { errorPage } from './error-page.tsx'
import { errorResponse, logUnexpected } from './errors.ts'
import { healthRoutes } from './health.ts'
import type { Site } from './layout.tsx'
import { openApiDocument } from './openapi.ts'

/** The scripts and style sheets of single pages, to be bundled by `loadAssets`. */
export const pageAssets = [checkScript, docsScript, liveScript, statusSheet]

/** Everything that is served but GraphQL: REST, pages, documentation, assets and health. */
export function createRouter(options: {
  readonly parts: Parts
  readonly site: Site
  readonly pageCache: PageCache
  readonly isReady: () => Promise<boolean>
}): Hono<{ Bindings: HttpBindings }> {
  const { parts, site, pageCache, isReady } = options
  const callerIn = (c: HttpContext) => callerOf((c as HttpContext<{ Bindings: HttpBindings }>).env.incoming, parts)
  const visitorOf = (c: HttpContext) => visitorContext(parts, callerIn(c))
  const contextIn = (c: HttpContext, credential: string | null) => {
    const caller = callerIn(c)
    return contextOf(parts, { ...caller, credential: credential ?? caller.credential }, () => c.req.raw.signal)
  }

  const app = new Hono<{ Bindings: HttpBindings }>()
  app.route('/', healthRoutes(isReady))
  app.route(BLACKLIST_PATH, blacklistRoutes({ contextOf: contextIn, visitorOf }))
  app.route(
    '/',
    docsRoutes(site, () => openApiDocument(site.baseUrl, blacklistPaths)),
  )
  // Before the pages of the root, which is the status page's own on an owner's domain.
  app.route('/', statusPages({ site, db: parts.db, cache: pageCache, now: parts.now }))
  app.route('/', site.assets.routes)
  app.route(
    '/',
    checkPages({
      site,
      log: parts.log,
      checksPerDay: { free: checksPerDay.FREE, pro: checksPerDay.PRO },
      lists: () => listInfos(parts),
      ownAddress: (c) => {
        const { address } = callerIn(c)
        return isCheckable(address) ? address : null
      },
      start: (c, input) => startCheck(visitorOf(c), input),
    }),
  )

  app.notFound((c) =>
    wantsJson(c)
      ? errorResponse(c, new NotFound('There is nothing at this path.'), parts.now(), parts.log)
      : errorPage(c, site, { status: 404 }),
  )
  app.onError((error, c) =>
    wantsJson(c)
      ? errorResponse(c, error, parts.now(), parts.log)
      : errorPage(c, site, { status: 500, requestId: logUnexpected(error, parts.log) }),
  )
  return app
}

/** Scripts are told of errors in JSON, browsers by a page. */
function wantsJson(c: HttpContext): boolean {
  return c.req.path.startsWith('/api/') || !(c.req.header('accept') ?? '').includes('text/html')
}

function listInfos({ checker }: Parts): ListInfos {
  const of = (kind: 'ip' | 'domain') =>
    checker.lists
      .filter((list) => list.kind === kind)
      .map((list) => ({
        name: list.name,
        description: list.description,
        health: checker.lookup.health.of(list).status,
      }))
  return { ip: of('ip'), domain: of('domain') }
}
