import type { Context as HttpContext, Next } from 'hono'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { setPageCookie } from '../account/http/page-keys.ts'
import type { PageGuard } from '../account/page/page-guard.ts'
import type { Context } from '../core/context.ts'
import { DomainError, Forbidden } from '../core/errors.ts'
import { bodyLimits } from '../core/input-limits.ts'
import { emptyForm, readForm } from '../http/page/form.tsx'
import type { Site } from '../http/page/layout.tsx'
import { nodeRequest } from '../http/request/node-request.ts'
import { isOwnOrigin } from '../http/request/own-origin.ts'
import type { AccountMailer } from '../people/context.ts'
import { ownPath } from '../people/html/held-form.tsx'
import { isPageLink, opensPage, requestPageLink, takePageLink } from '../people/page-access.ts'
import { refuseCrossSite, showAccessForm, showLinkButton, showLinkGone, showLinkSent } from './page-access-form.tsx'
import type { PageLocation } from './page-location.ts'
import { findPageLocation } from './page-location.ts'

/** The dependencies of the forms. */
export interface PageAccessOptions {
  readonly site: Site
  readonly guard: PageGuard
  /** A visitor’s context. */
  readonly visitorOf: (c: HttpContext) => Context & AccountMailer
}

type Answer = (c: HttpContext, location: PageLocation) => Response | Promise<Response>

/** A form has a password or an address, and a path. */
const MAX_FORM_BYTES = bodyLimits.smallForm.most

/** Serves the form that opens a private page, and the link in an email. */
export function pageAccessRoutes(options: PageAccessOptions): Hono {
  const { site } = options
  const app = new Hono()
  const at = (answer: Answer) => async (c: HttpContext, next: Next) => {
    const location = await findPageLocation(options, c)
    return location === null ? next() : answer(c, location)
  }
  const submit = (answer: Answer) =>
    at((c, location) => {
      if (location.page.kind === 'PUBLIC') return toPage(c, location)
      return isOwnOrigin(nodeRequest(c), true) ? answer(c, location) : refuseCrossSite(c, site, location)
    })
  for (const base of ['/status/:slug', '']) {
    app.get(`${base}/access`, at(toPage))
    app.post(
      `${base}/access`,
      submit((c, location) => answerForm(options, c, location)),
    )
    app.get(
      `${base}/access/:token`,
      at((c, location) => showLink(options, c, location)),
    )
    app.post(
      `${base}/access/:token`,
      submit((c, location) => openByLink(options, c, location)),
    )
  }
  return app
}

/** The paths of these routes. */
export const isAccessPath = (path: string, { base }: PageLocation): boolean =>
  path === `${base}/access` || path.startsWith(`${base}/access/`)

const toPage = (c: HttpContext, { base }: PageLocation) => c.redirect(base || '/', 303)

/** Opens the page by its password, or emails a link. */
async function answerForm(options: PageAccessOptions, c: HttpContext, location: PageLocation): Promise<Response> {
  let { fields } = emptyForm
  try {
    fields = (await readForm(c, MAX_FORM_BYTES)).fields
    const answer = location.page.kind === 'PASSWORD' ? openByPassword : mailLink
    return await answer(options, c, location, fields)
  } catch (error) {
    // The form is too large.
    if (error instanceof HTTPException) return error.getResponse()
    if (!(error instanceof DomainError)) throw error
    return showAccessForm(c, options.site, location, { fields, problem: error })
  }
}

async function openByPassword(
  options: PageAccessOptions,
  c: HttpContext,
  location: PageLocation,
  fields: URLSearchParams,
): Promise<Response> {
  const isRight = await opensPage(options.visitorOf(c), location.page, fields.get('password') ?? '')
  if (!isRight) throw new Forbidden('WRONG_CREDENTIALS', 'The password is wrong.')
  return open(options, c, location, fields.get('to') ?? '')
}

async function mailLink(
  { site, visitorOf }: PageAccessOptions,
  c: HttpContext,
  location: PageLocation,
  fields: URLSearchParams,
): Promise<Response> {
  const { page, origin, base } = location
  if (page.kind !== 'MAIL_DOMAIN') return showAccessForm(c, site, location, emptyForm)
  await requestPageLink(visitorOf(c), page, { email: fields.get('email') ?? '' }, `${origin}${base}/access`)
  return showLinkSent(c, site, location)
}

async function showLink(
  { site, visitorOf }: PageAccessOptions,
  c: HttpContext,
  location: PageLocation,
): Promise<Response> {
  const isUsable = await isPageLink(visitorOf(c), location.page, c.req.param('token') ?? '')
  return isUsable ? showLinkButton(c, site, location) : showLinkGone(c, site, location)
}

async function openByLink(options: PageAccessOptions, c: HttpContext, location: PageLocation): Promise<Response> {
  try {
    await takePageLink(options.visitorOf(c), location.page, c.req.param('token') ?? '')
  } catch (error) {
    if (error instanceof DomainError) return showLinkGone(c, options.site, location)
    throw error
  }
  return open(options, c, location, '')
}

/** Lets the browser read the page from now on, and redirects it to a path of the page. */
function open({ site, guard }: PageAccessOptions, c: HttpContext, { page, base }: PageLocation, to: string): Response {
  setPageCookie(c, site, page.pageId, guard.sign(page))
  c.header('cache-control', 'private, no-store')
  return c.redirect(pathWithin(base, to), 303)
}

/** Returns a path of the page; the page itself for any other text, such as the address of another site. */
function pathWithin(base: string, to: string): string {
  const path = ownPath(to)
  const isWithin = path === base || path.startsWith(`${base}/`) || path.startsWith(`${base}?`)
  return to !== '' && isWithin && path !== '/console' ? path : base || '/'
}
