import type { Context as HttpContext, Next } from 'hono'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { pageKeysOf, setPageCookie } from '../account/http/page-keys.ts'
import type { GuardedPage, PageGuard, PagePass } from '../account/page-guard.ts'
import { passOf } from '../account/page-guard.ts'
import type { Context } from '../core/context.ts'
import { DomainError, Forbidden, RateLimited, Unavailable } from '../core/errors.ts'
import type { FormState } from '../http/form.tsx'
import { emptyForm, FormProblem, InputField, readForm } from '../http/form.tsx'
import { hostNameOf } from '../http/host.ts'
import type { Site } from '../http/layout.tsx'
import { nodeRequest } from '../http/node-request.ts'
import { isOwnOrigin } from '../http/own-origin.ts'
import { holdAnswer } from '../http/send-body.ts'
import { respondWithFormPage } from '../people/html/frame.tsx'
import { ownPath } from '../people/html/held-form.tsx'
import { isPageLink, opensPage, requestPageLink, takePageLink } from '../people/page-access.ts'

/** The dependencies of the guard. */
export interface PageGuardOptions {
  readonly site: Site
  readonly guard: PageGuard
  /** A visitor’s context. */
  readonly visitorOf: (c: HttpContext) => Context
  /** The context of the person signed in, or a visitor’s. */
  readonly personOf: (c: HttpContext) => Promise<Context>
  /** The context of the caller’s API key. @throws Unauthenticated for a wrong one. */
  readonly callerOf: (c: HttpContext) => Promise<Context>
}

/** Where a page is. */
interface Place {
  readonly page: GuardedPage
  /** The public address of the host, without a slash at its end. */
  readonly origin: string
  /** `/status/{slug}`, or empty on a custom domain. */
  readonly base: string
}

/** A form has a password or an address, and a path. */
const MAX_FORM_BYTES = 8 * 1024

/** What custom domains serve besides their page: nothing of it. Everything else there is guarded. */
const elsewhere =
  /^\/(?:assets|status|docs|graphql|subscriptions|logos|console|sign-in|sign-up|sign-out|setup|invitations|\.well-known|api\/(?:v1|blacklist-monitor)|healthz|readyz|metrics|robots\.txt|openapi\.json)(?:\/|$)/

/**
 * Guards every path of private pages: all below `/status/{slug}`, and all of a custom domain but `elsewhere`. Routes behind it need not
 * know that pages can be private. Adds the form that opens a page, and the link of a mail. Comes before all other routes.
 */
export function pageGuardRoutes(options: PageGuardOptions): Hono {
  const { site, guard, visitorOf } = options
  const app = new Hono()

  async function placeAt(c: HttpContext): Promise<Place | null> {
    const slug = c.req.param('slug')
    if (slug !== undefined) {
      const [page] = await guard.pages({ slug })
      return page ? { page, origin: site.baseUrl, base: `/status/${slug}` } : null
    }
    const home = new URL(site.baseUrl)
    const host = hostNameOf(c.req.header('host'))
    if (host === home.hostname || !host.includes('.') || /^[\d.]+$/.test(host)) return null
    const [page] = await guard.pages({ host })
    return page ? { page, origin: `${home.protocol}//${host}`, base: '' } : null
  }

  async function protect(c: HttpContext, next: Next): Promise<Response | undefined> {
    const place = await placeAt(c)
    if (place === null || place.page.kind === 'PUBLIC' || isDoor(c.req.path, place)) {
      await next()
      return
    }
    if (c.req.method === 'OPTIONS') return c.body(null, 204)
    const pass = await passFor(options, c, place.page)
    if (pass === null) return wantsPage(c) ? askFor(c, options, place, emptyForm) : refuse(c)
    holdAnswer(c)
    await next()
    const answer = privately(c.res, c.req.query('token') !== undefined)
    // Otherwise Hono would keep the headers of the answer before.
    c.res = undefined
    c.res = answer
    return
  }

  const protectAt = '/status/:slug/*'
  app.use(protectAt, protect)
  app.use('*', (c, next) => (elsewhere.test(c.req.path) ? next() : protect(c, next)))

  const submit = async (c: HttpContext, next: Next, work: (place: Place) => Promise<Response>) => {
    const place = await placeAt(c)
    if (place === null) return next()
    if (place.page.kind === 'PUBLIC') return c.redirect(place.base || '/', 303)
    if (!isOwnOrigin(nodeRequest(c), true)) {
      return respondWithFormPage(c, site, 'Not allowed', <p class="lead">Send this form from its own page.</p>, 403)
    }
    return work(place)
  }
  const open = (c: HttpContext, { page, base }: Place, to: string) => {
    setPageCookie(c, site, page.pageId, guard.sign(page))
    c.header('cache-control', 'private, no-store')
    return c.redirect(pathWithin(base, to), 303)
  }

  /** Opens the page by its password, or mails a link. */
  async function answerForm(c: HttpContext, place: Place): Promise<Response> {
    let fields = emptyForm.fields
    try {
      fields = (await readForm(c, MAX_FORM_BYTES)).fields
      const answer = place.page.kind === 'PASSWORD' ? openByPassword : mailLink
      return await answer(c, place, fields)
    } catch (error) {
      // The form is too large.
      if (error instanceof HTTPException) return error.getResponse()
      if (!(error instanceof DomainError)) throw error
      return askFor(c, options, place, { fields, problem: error })
    }
  }

  async function openByPassword(c: HttpContext, place: Place, fields: URLSearchParams): Promise<Response> {
    const isRight = await opensPage(visitorOf(c), place.page, fields.get('password') ?? '')
    if (isRight) return open(c, place, fields.get('to') ?? '')
    throw new Forbidden('WRONG_CREDENTIALS', 'The password is wrong.')
  }

  async function mailLink(c: HttpContext, place: Place, fields: URLSearchParams): Promise<Response> {
    const { page, origin, base } = place
    if (page.kind !== 'MAIL_DOMAIN') return askFor(c, options, place, emptyForm)
    await requestPageLink(visitorOf(c), page, { email: fields.get('email') ?? '' }, `${origin}${base}/access`)
    const text = 'If this address may open the page, a link is on its way.'
    return respondWithFormPage(c, site, 'Check your mail', <p class="lead">{text}</p>)
  }

  for (const base of ['/status/:slug', '']) {
    app.get(`${base}/access`, async (c, next) => {
      const place = await placeAt(c)
      return place === null ? next() : c.redirect(place.base || '/', 303)
    })
    app.post(`${base}/access`, (c, next) => submit(c, next, (place) => answerForm(c, place)))
    app.get(`${base}/access/:token`, async (c, next) => {
      const place = await placeAt(c)
      if (place === null) return next()
      const isUsable = await isPageLink(visitorOf(c), place.page, c.req.param('token') ?? '')
      return isUsable ? respondWithFormPage(c, site, 'Status page', <OpenForm />) : goneAt(c, site, place)
    })
    app.post(`${base}/access/:token`, (c, next) =>
      submit(c, next, async (place) => {
        try {
          await takePageLink(visitorOf(c), place.page, c.req.param('token') ?? '')
        } catch (error) {
          if (error instanceof DomainError) return goneAt(c, site, place)
          throw error
        }
        return open(c, place, '')
      }),
    )
  }
  return app
}

/** The paths that open a page. */
const isDoor = (path: string, { base }: Place) => path === `${base}/access` || path.startsWith(`${base}/access/`)

/** Returns the right of a caller to read a page: by what the request shows, then by its session or key, which take a query. */
async function passFor(options: PageGuardOptions, c: HttpContext, page: GuardedPage): Promise<PagePass | null> {
  const pageKeys = pageKeysOf(c, options.site)
  const pass = passOf(options.guard, page, { ...options.visitorOf(c), pageKeys })
  if (pass !== null) return pass
  try {
    const hasKey = c.req.header('authorization') !== undefined || c.req.header('x-api-key') !== undefined
    const { actor } = await (hasKey ? options.callerOf(c) : options.personOf(c))
    return passOf(options.guard, page, { actor, clientAddress: null })
  } catch (error) {
    if (error instanceof DomainError) return null
    throw error
  }
}

/** Whether a browser asks for a page, not a program for a document. */
const wantsPage = (c: HttpContext) => (c.req.header('accept') ?? '').includes('text/html')

const refusalHeaders = {
  'cache-control': 'private, no-store',
  'x-robots-tag': 'noindex, nofollow',
  'www-authenticate': 'Bearer realm="Status page"',
} as const

function refuse(c: HttpContext): Response {
  const message = 'This status page is private. Send a read token of the page.'
  return c.json({ error: { code: 'PAGE_IS_PRIVATE', message } }, 401, refusalHeaders)
}

/**
 * Returns an answer about a private page so that nobody keeps it, indexes it, or reads it from another site.
 * @param withToken whether the address has a read token, which no other site may learn.
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

/** Returns a path of the page; the page itself for any other text, such as the address of another site. */
function pathWithin(base: string, to: string): string {
  const path = ownPath(to)
  const isWithin = path === base || path.startsWith(`${base}/`) || path.startsWith(`${base}?`)
  return to !== '' && isWithin && path !== '/console' ? path : base || '/'
}

/** Asks for what opens a page. Says nothing about the page but that it is private. */
function askFor(c: HttpContext, { site }: PageGuardOptions, place: Place, state: FormState): Response {
  const { problem } = state
  for (const [name, value] of Object.entries(refusalHeaders)) c.header(name, value)
  if (problem instanceof RateLimited) c.header('retry-after', problem.retryAt.toUTCString())
  const status = problem instanceof RateLimited ? 429 : problem instanceof Unavailable ? 503 : 401
  const address = new URL(c.req.url)
  address.searchParams.delete('token')
  const to = state.fields.get('to') ?? (c.req.method === 'GET' ? address.pathname + address.search : place.base || '/')
  return respondWithFormPage(c, site, 'This page is private', <Ask {...{ site, place, state, to }} />, status)
}

function Ask({
  site,
  place: { page, base },
  state,
  to,
}: {
  readonly site: Site
  readonly place: Place
  readonly state: FormState
  readonly to: string
}) {
  // No session exists on a custom domain, and the slug there is nobody’s business.
  const signIn = base === '' ? `${site.baseUrl}/console` : `/sign-in?to=${encodeURIComponent(to)}`
  const member = page.kind === 'MEMBERS'
  return (
    <>
      {page.kind === 'PASSWORD' || page.kind === 'MAIL_DOMAIN' ? (
        <form method="post" action={`${base}/access`} class="stack">
          <FormProblem state={state} fields={['email']} />
          <input type="hidden" name="to" value={to} />
          {page.kind === 'PASSWORD' ? (
            <InputField
              label="Password"
              name="password"
              type="password"
              state={{ ...state, fields: new URLSearchParams() }}
              required
              autofocus
              autocomplete="current-password"
            />
          ) : (
            <InputField
              label="Email"
              name="email"
              type="email"
              state={state}
              required
              autofocus
              hint="We’ll mail you a link."
              autocomplete="email"
            />
          )}
          <p class="actions">
            <button type="submit">{page.kind === 'PASSWORD' ? 'Open' : 'Send link'}</button>
          </p>
        </form>
      ) : (
        <p class="lead">{member ? 'Sign in to read it.' : 'It opens from certain networks only.'}</p>
      )}
      <p class="actions">
        <a href={signIn}>{member ? 'Sign in' : 'Sign in as a member'}</a>
      </p>
    </>
  )
}

/** A mail scanner that follows the link changes nothing; the button does. */
function OpenForm() {
  return (
    <form method="post" class="stack">
      <p class="actions">
        <button type="submit">Open</button>
      </p>
    </form>
  )
}

function goneAt(c: HttpContext, site: Site, { base }: Place): Response {
  const content = (
    <>
      <p class="lead">This link was used already or has expired.</p>
      <p class="actions">
        <a href={base || '/'}>Get a new link</a>
      </p>
    </>
  )
  return respondWithFormPage(c, site, 'This link no longer works', content, 410)
}
