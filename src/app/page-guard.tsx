import type { Context as HttpContext, Next } from 'hono'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { Child } from 'hono/jsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { pageKeysOf, setPageCookie } from '../account/http/page-keys.ts'
import type { GuardedPage, PageGuard, PagePass } from '../account/page/page-guard.ts'
import { passOf } from '../account/page/page-guard.ts'
import type { Context } from '../core/context.ts'
import { DomainError, Forbidden, Invalid, RateLimited, Unavailable } from '../core/errors.ts'
import type { FormState } from '../http/page/form.tsx'
import { emptyForm, FormProblem, InputField, readForm } from '../http/page/form.tsx'
import type { Site } from '../http/page/layout.tsx'
import { hostNameOf } from '../http/request/host-header.ts'
import { nodeRequest } from '../http/request/node-request.ts'
import { isOwnOrigin } from '../http/request/own-origin.ts'
import { holdAnswer } from '../http/response/send-answer.ts'
import type { Catalogue } from '../language/catalogue.ts'
import { wordsOf } from '../language/catalogue.ts'
import { languageOfTag, offeredLanguages, preferredLanguage } from '../language/choice.ts'
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
  /^\/(?:assets|status|docs|graphql|subscriptions|alerts|logos|console|sign-in|sign-up|sign-out|setup|invitations|\.well-known|api\/(?:v1|blacklist-monitor)|healthz|readyz|metrics|robots\.txt|openapi\.json)(?:\/|$)/

/** Returns whether a path of a custom domain is its page's, and guarded when that is private. */
export const isOfPage = (path: string): boolean => !elsewhere.test(path)

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
      return respondInWords(c, site, place, ({ access, subscribe }) => ({
        title: access.notAllowed,
        content: <p class="lead">{subscribe.ownOrigin}</p>,
        status: 403,
      }))
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
    return respondInWords(c, site, place, ({ access }) => ({
      title: access.sentTitle,
      content: <p class="lead">{access.sent}</p>,
    }))
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
      return isUsable
        ? respondInWords(c, site, place, ({ access }) => ({ title: access.page, content: <OpenForm words={access} /> }))
        : goneAt(c, site, place)
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
 * Returns an answer about a private page so that it is not cached, indexed, or read by other sites.
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
  return respondInWords(c, site, place, (words) => ({
    title: words.access.title,
    content: <Ask {...{ site, place, to, words }} state={inWords(state, words)} />,
    status,
  }))
}

function Ask({
  site,
  place: { page, base },
  state,
  to,
  words: { access: words },
}: {
  readonly site: Site
  readonly place: Place
  readonly state: FormState
  readonly to: string
  readonly words: Catalogue
}) {
  // No session exists on a custom domain, and the slug is not revealed there.
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
              label={words.password}
              name="password"
              type="password"
              state={{ ...state, fields: new URLSearchParams() }}
              required
              autofocus
              autocomplete="current-password"
            />
          ) : (
            <InputField
              label={words.email}
              name="email"
              type="email"
              state={state}
              required
              autofocus
              hint={words.emailHint}
              autocomplete="email"
            />
          )}
          <p class="actions">
            <button type="submit">{page.kind === 'PASSWORD' ? words.open : words.sendLink}</button>
          </p>
        </form>
      ) : (
        <p class="lead">{member ? words.members : words.networks}</p>
      )}
      <p class="actions">
        <a href={signIn}>{member ? words.signIn : words.signInAsMember}</a>
      </p>
    </>
  )
}

/** A mail scanner that follows the link changes nothing; the button does. */
function OpenForm({ words }: { readonly words: Catalogue['access'] }) {
  return (
    <form method="post" class="stack">
      <p class="actions">
        <button type="submit">{words.open}</button>
      </p>
    </form>
  )
}

function goneAt(c: HttpContext, site: Site, place: Place): Response {
  return respondInWords(c, site, place, ({ access }) => ({
    title: access.goneTitle,
    status: 410,
    content: (
      <>
        <p class="lead">{access.gone}</p>
        <p class="actions">
          <a href={place.base || '/'}>{access.newLink}</a>
        </p>
      </>
    ),
  }))
}

/** Sends a form page in the language of the address, or of the reader, if the page offers it. */
function respondInWords(
  c: HttpContext,
  site: Site,
  { page, base }: Place,
  shown: (words: Catalogue) => {
    readonly title: string
    readonly content: Child
    readonly status?: ContentfulStatusCode
  },
): Response {
  const languages = offeredLanguages(page.languages, page.defaultLanguage)
  const [, inPath] = c.req.path.slice(base.length).split('/')
  const asked = languageOfTag(inPath) ?? languageOfTag(c.req.query('language'))
  const language =
    asked !== null && languages.offered.includes(asked)
      ? asked
      : preferredLanguage(c.req.header('accept-language'), languages)
  const words = wordsOf(language)
  const { title, content, status } = shown(words)
  return respondWithFormPage(c, site, title, content, status, words)
}

/** What was wrong as the reader’s language says it. */
function inWords(state: FormState, { access, subscribe }: Catalogue): FormState {
  const { problem } = state
  if (problem === null) return state
  if (problem instanceof RateLimited) return { ...state, problem: new RateLimited(access.tooMany, problem.retryAt) }
  if (problem instanceof Forbidden) return { ...state, problem: new Forbidden(problem.code, access.wrongPassword) }
  if (problem instanceof Unavailable) return { ...state, problem: new Forbidden(problem.code, access.unavailable) }
  if (!(problem instanceof Invalid)) return { ...state, problem: new Forbidden(problem.code, subscribe.problems.other) }
  // Fields add the stop.
  const message = subscribe.problems.email.replace(/[.。]$/, '')
  const issues = problem.issues.map((issue) => (issue.path[0] === 'email' ? { ...issue, message } : issue))
  return { ...state, problem: new Invalid(problem.code, subscribe.check, issues) }
}
