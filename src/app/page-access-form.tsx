import type { Context as HttpContext } from 'hono'
import type { Child } from 'hono/jsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { Forbidden, Invalid, RateLimited, Unavailable } from '../core/errors.ts'
import type { FormState } from '../http/page/form.tsx'
import { FormProblem, InputField } from '../http/page/form.tsx'
import type { Site } from '../http/page/layout.tsx'
import type { Catalogue } from '../language/catalogue.ts'
import { wordsOf } from '../language/catalogue.ts'
import { languageOfTag, offeredLanguages, preferredLanguage } from '../language/choice.ts'
import { respondWithFormPage } from '../people/html/frame.tsx'
import type { PageLocation } from './page-location.ts'

/** The headers of an answer that refuses a private page. */
export const refusalHeaders = {
  'cache-control': 'private, no-store',
  'x-robots-tag': 'noindex, nofollow',
  'www-authenticate': 'Bearer realm="Status page"',
} as const

/** Shows the form that opens a private page. Reveals nothing about the page except that it is private. */
export function showAccessForm(c: HttpContext, site: Site, location: PageLocation, state: FormState): Response {
  const { problem } = state
  for (const [name, value] of Object.entries(refusalHeaders)) c.header(name, value)
  if (problem instanceof RateLimited) c.header('retry-after', problem.retryAt.toUTCString())
  const status = problem instanceof RateLimited ? 429 : problem instanceof Unavailable ? 503 : 401
  const address = new URL(c.req.url)
  address.searchParams.delete('token')
  const to =
    state.fields.get('to') ?? (c.req.method === 'GET' ? address.pathname + address.search : location.base || '/')
  return respondInWords(c, site, location, (words) => ({
    title: words.access.title,
    content: <AccessForm {...{ site, location, to, words }} state={inWords(state, words)} />,
    status,
  }))
}

function AccessForm({
  site,
  location: { page, base },
  state,
  to,
  words: { access: words },
}: {
  readonly site: Site
  readonly location: PageLocation
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

/**
 * Shows a button that opens the page, at the link in an email. The link alone does not open it, because mail scanners
 * follow links.
 */
export function showLinkButton(c: HttpContext, site: Site, location: PageLocation): Response {
  return respondInWords(c, site, location, ({ access }) => ({
    title: access.page,
    content: (
      <form method="post" class="stack">
        <p class="actions">
          <button type="submit">{access.open}</button>
        </p>
      </form>
    ),
  }))
}

/** Confirms that the link was sent. */
export function showLinkSent(c: HttpContext, site: Site, location: PageLocation): Response {
  return respondInWords(c, site, location, ({ access }) => ({
    title: access.sentTitle,
    content: <p class="lead">{access.sent}</p>,
  }))
}

/** Refuses a form that another site submitted. */
export function refuseCrossSite(c: HttpContext, site: Site, location: PageLocation): Response {
  return respondInWords(c, site, location, ({ access, subscribe }) => ({
    title: access.notAllowed,
    content: <p class="lead">{subscribe.ownOrigin}</p>,
    status: 403,
  }))
}

/** Responds that a link was already used or has expired. */
export function showLinkGone(c: HttpContext, site: Site, location: PageLocation): Response {
  return respondInWords(c, site, location, ({ access }) => ({
    title: access.goneTitle,
    status: 410,
    content: (
      <>
        <p class="lead">{access.gone}</p>
        <p class="actions">
          <a href={location.base || '/'}>{access.newLink}</a>
        </p>
      </>
    ),
  }))
}

/** Sends a form page in the language of the address, or of the reader, if the page offers it. */
function respondInWords(
  c: HttpContext,
  site: Site,
  { page, base }: PageLocation,
  shown: (words: Catalogue) => {
    readonly title: string
    readonly content: Child
    readonly status?: ContentfulStatusCode
  },
): Response {
  const languages = offeredLanguages(page.languages, page.defaultLanguage)
  const [, inPath] = c.req.path.slice(base.length).split('/')
  const requested = languageOfTag(inPath) ?? languageOfTag(c.req.query('language'))
  const language =
    requested !== null && languages.offered.includes(requested)
      ? requested
      : preferredLanguage(c.req.header('accept-language'), languages)
  const words = wordsOf(language)
  const { title, content, status } = shown(words)
  return respondWithFormPage(c, site, title, content, status, { language: words, accentColor: page.accentColor })
}

/** Returns the state of a form with its problem in the reader’s language. */
function inWords(state: FormState, { access, subscribe }: Catalogue): FormState {
  const { problem } = state
  if (problem === null) return state
  if (problem instanceof RateLimited) return { ...state, problem: new RateLimited(access.tooMany, problem.retryAt) }
  if (problem instanceof Forbidden) return { ...state, problem: new Forbidden(problem.code, access.wrongPassword) }
  if (problem instanceof Unavailable) return { ...state, problem: new Forbidden(problem.code, access.unavailable) }
  if (!(problem instanceof Invalid)) return { ...state, problem: new Forbidden(problem.code, subscribe.problems.other) }
  // Fields add the full stop.
  const message = subscribe.problems.email.replace(/[.。]$/, '')
  const issues = problem.issues.map((issue) => (issue.path[0] === 'email' ? { ...issue, message } : issue))
  return { ...state, problem: new Invalid(problem.code, subscribe.check, issues) }
}
