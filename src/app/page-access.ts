import type { Context as HttpContext, Next } from 'hono'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { setPageCookie } from '../account/http/page-keys.ts'
import type { PageGuard } from '../account/page/page-guard.ts'
import type { Context } from '../core/context.ts'
import { DomainError, Forbidden } from '../core/errors.ts'
import { emptyForm, readForm } from '../http/page/form.tsx'
import type { Site } from '../http/page/layout.tsx'
import { nodeRequest } from '../http/request/node-request.ts'
import { isOwnOrigin } from '../http/request/own-origin.ts'
import { ownPath } from '../people/html/held-form.tsx'
import { isPageLink, opensPage, requestPageLink, takePageLink } from '../people/page-access.ts'
import type { Place } from './guarded-place.ts'
import { placeAt } from './guarded-place.ts'
import { askFor, confirmSent, goneAt, offerLink, refuseOtherSite } from './page-access-form.tsx'

/** The dependencies of the forms. */
export interface PageAccessOptions {
  readonly site: Site
  readonly guard: PageGuard
  /** A visitor’s context. */
  readonly visitorOf: (c: HttpContext) => Context
}

type Answer = (c: HttpContext, place: Place) => Response | Promise<Response>

/** A form has a password or an address, and a path. */
const MAX_FORM_BYTES = 8 * 1024

/** Serves the form that opens a private page, and the link of a mail. */
export function pageAccessRoutes(options: PageAccessOptions): Hono {
  const { site } = options
  const app = new Hono()
  const at = (answer: Answer) => async (c: HttpContext, next: Next) => {
    const place = await placeAt(options, c)
    return place === null ? next() : answer(c, place)
  }
  const submit = (answer: Answer) =>
    at((c, place) => {
      if (place.page.kind === 'PUBLIC') return toPage(c, place)
      return isOwnOrigin(nodeRequest(c), true) ? answer(c, place) : refuseOtherSite(c, site, place)
    })
  for (const base of ['/status/:slug', '']) {
    app.get(`${base}/access`, at(toPage))
    app.post(
      `${base}/access`,
      submit((c, place) => answerForm(options, c, place)),
    )
    app.get(
      `${base}/access/:token`,
      at((c, place) => showLink(options, c, place)),
    )
    app.post(
      `${base}/access/:token`,
      submit((c, place) => openByLink(options, c, place)),
    )
  }
  return app
}

/** The paths of these routes. */
export const isAccessPath = (path: string, { base }: Place): boolean =>
  path === `${base}/access` || path.startsWith(`${base}/access/`)

const toPage = (c: HttpContext, { base }: Place) => c.redirect(base || '/', 303)

/** Opens the page by its password, or mails a link. */
async function answerForm(options: PageAccessOptions, c: HttpContext, place: Place): Promise<Response> {
  let { fields } = emptyForm
  try {
    fields = (await readForm(c, MAX_FORM_BYTES)).fields
    const answer = place.page.kind === 'PASSWORD' ? openByPassword : mailLink
    return await answer(options, c, place, fields)
  } catch (error) {
    // The form is too large.
    if (error instanceof HTTPException) return error.getResponse()
    if (!(error instanceof DomainError)) throw error
    return askFor(c, options.site, place, { fields, problem: error })
  }
}

async function openByPassword(
  options: PageAccessOptions,
  c: HttpContext,
  place: Place,
  fields: URLSearchParams,
): Promise<Response> {
  const isRight = await opensPage(options.visitorOf(c), place.page, fields.get('password') ?? '')
  if (!isRight) throw new Forbidden('WRONG_CREDENTIALS', 'The password is wrong.')
  return open(options, c, place, fields.get('to') ?? '')
}

async function mailLink(
  { site, visitorOf }: PageAccessOptions,
  c: HttpContext,
  place: Place,
  fields: URLSearchParams,
): Promise<Response> {
  const { page, origin, base } = place
  if (page.kind !== 'MAIL_DOMAIN') return askFor(c, site, place, emptyForm)
  await requestPageLink(visitorOf(c), page, { email: fields.get('email') ?? '' }, `${origin}${base}/access`)
  return confirmSent(c, site, place)
}

async function showLink({ site, visitorOf }: PageAccessOptions, c: HttpContext, place: Place): Promise<Response> {
  const isUsable = await isPageLink(visitorOf(c), place.page, c.req.param('token') ?? '')
  return isUsable ? offerLink(c, site, place) : goneAt(c, site, place)
}

async function openByLink(options: PageAccessOptions, c: HttpContext, place: Place): Promise<Response> {
  try {
    await takePageLink(options.visitorOf(c), place.page, c.req.param('token') ?? '')
  } catch (error) {
    if (error instanceof DomainError) return goneAt(c, options.site, place)
    throw error
  }
  return open(options, c, place, '')
}

/** Lets the browser read the page from now on, and leads it to a path of the page. */
function open({ site, guard }: PageAccessOptions, c: HttpContext, { page, base }: Place, to: string): Response {
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
