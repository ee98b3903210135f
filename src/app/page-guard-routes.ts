import type { Context as HttpContext, Next } from 'hono'
import { Hono } from 'hono'
import { pageKeysOf } from '../account/http/page-keys.ts'
import type { GuardedPage, PagePass } from '../account/page/page-guard.ts'
import { passOf } from '../account/page/page-guard.ts'
import type { Context } from '../core/context.ts'
import { DomainError } from '../core/errors.ts'
import { emptyForm } from '../http/page/form.tsx'
import { holdAnswer } from '../http/response/send-answer.ts'
import type { PageAccessOptions } from './page-access.ts'
import { isAccessPath, pageAccessRoutes } from './page-access.ts'
import { refusalHeaders, showAccessForm } from './page-access-form.tsx'
import { findPageLocation } from './page-location.ts'

/** The dependencies of the guard. */
export interface PageGuardOptions extends PageAccessOptions {
  /** The context of the person signed in, or a visitor’s. */
  readonly personOf: (c: HttpContext) => Promise<Context>
  /** The context of the caller’s API key. @throws Unauthenticated for a wrong one. */
  readonly callerOf: (c: HttpContext) => Promise<Context>
}

/** The paths of custom domains that contain nothing of their page. All other paths are guarded. */
const elsewhere =
  /^\/(?:assets|status|docs|graphql|subscriptions|alerts|logos|console|sign-in|sign-up|sign-out|setup|invitations|\.well-known|api\/(?:v1|blacklist-monitor)|healthz|readyz|metrics|robots\.txt|openapi\.json)(?:\/|$)/

/** Returns whether a path of a custom domain belongs to its page, and is guarded while the page is private. */
export const isOfPage = (path: string): boolean => !elsewhere.test(path)

/**
 * Guards every path of private pages: all below `/status/{slug}`, and all of a custom domain except `elsewhere`. Later
 * routes need not know that pages can be private. Adds the form that opens a page, and the link in an email. Comes
 * before all other routes.
 */
export function pageGuardRoutes(options: PageGuardOptions): Hono {
  const app = new Hono()

  async function protect(c: HttpContext, next: Next): Promise<Response | undefined> {
    const location = await findPageLocation(options, c)
    if (location === null || location.page.kind === 'PUBLIC' || isAccessPath(c.req.path, location)) {
      await next()
      return
    }
    if (c.req.method === 'OPTIONS') return c.body(null, 204)
    const pass = await passFor(options, c, location.page)
    if (pass === null) return wantsPage(c) ? showAccessForm(c, options.site, location, emptyForm) : refuse(c)
    holdAnswer(c)
    await next()
    const answer = privately(c.res, c.req.query('token') !== undefined)
    // Otherwise, Hono would keep the headers of the previous answer.
    c.res = undefined
    c.res = answer
    return
  }

  app.use('/status/:slug/*', protect)
  app.use('*', (c, next) => (elsewhere.test(c.req.path) ? next() : protect(c, next)))
  app.route('/', pageAccessRoutes(options))
  return app
}

/**
 * Returns the caller's right to read a page. Checks the request itself first, then its session or key, which takes a
 * query.
 */
async function passFor(options: PageGuardOptions, c: HttpContext, page: GuardedPage): Promise<PagePass | null> {
  const pageKeys = pageKeysOf(c, options.site)
  const pass = passOf(options.guard, page, { ...options.visitorOf(c), pageKeys })
  if (pass !== null) return pass
  try {
    const hasKey = c.req.header('authorization') !== undefined || c.req.header('x-api-key') !== undefined
    const { actor } = await (hasKey ? options.callerOf(c) : options.personOf(c))
    return passOf(options.guard, page, { actor })
  } catch (error) {
    if (error instanceof DomainError) return null
    throw error
  }
}

/** Returns whether a browser requests a page, and not a program a document. */
const wantsPage = (c: HttpContext) => (c.req.header('accept') ?? '').includes('text/html')

function refuse(c: HttpContext): Response {
  const message = 'This status page is private. Send a read token of the page.'
  return c.json({ error: { code: 'PAGE_IS_PRIVATE', message } }, 401, refusalHeaders)
}

/**
 * Returns an answer about a private page with headers that keep it from being cached, indexed, or read by other sites.
 * @param withToken whether the address has a read token, which must not reach other sites.
 */
function privately(answer: Response, withToken: boolean): Response {
  const headers = new Headers(answer.headers)
  for (const name of ['access-control-allow-origin', 'access-control-expose-headers', 'last-modified'])
    headers.delete(name)
  headers.set('cache-control', 'private, no-store')
  headers.set('x-robots-tag', 'noindex, nofollow')
  headers.set('cross-origin-resource-policy', withToken ? 'cross-origin' : 'same-origin')
  headers.set('referrer-policy', withToken ? 'no-referrer' : 'same-origin')
  if (withToken) headers.set('access-control-allow-origin', '*')
  return new Response(answer.body, { status: answer.status, statusText: answer.statusText, headers })
}
