import type { Context } from 'hono'
import { Hono } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { HTTPException } from 'hono/http-exception'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { requireScope } from '../../core/access.ts'
import type { Config } from '../../core/config.ts'
import { DomainError, Invalid, LimitExceeded, NotFound, Unauthenticated } from '../../core/errors.ts'
import { bodyLimits } from '../../core/input-limits.ts'
import { root } from '../../core/process/paths.ts'
import { DAY, SECOND } from '../../core/time.ts'
import type { CheckPlanInvoice } from '../../generated/prisma/client.ts'
import { errorPage } from '../../http/page/error-page.tsx'
import type { Site } from '../../http/page/layout.tsx'
import { pageHeaders, respondWithPage } from '../../http/page/layout.tsx'
import { readFields } from '../../http/request/form-fields.ts'
import { nodeRequest } from '../../http/request/node-request.ts'
import { buyCheckPlan, claimCheckPlan, findPurchase, purchasePath, RENEWAL_PATH } from '../check-plan/check-plan.ts'
import { isOpen } from '../check-plan/check-plan-invoice.ts'
import { findRenewal, renewalToken, renewCheckPlan } from '../check-plan/renewal.ts'
import type { BillingContext, BuyerContext } from '../context.ts'
import { startUpgrade } from '../subscription/checkout.ts'
import { checkoutErrorPage, unindexedPage } from './checkout-result.tsx'
import type { FormError } from './pricing.tsx'
import { Pricing, pricingTitle } from './pricing.tsx'
import { ConfirmExtension, ConfirmUpgrade, PurchaseStatus } from './purchase.tsx'
import { NothingToRenew, Renew } from './renewal.tsx'

/** The script that waits for a payment to arrive; bundled as `success.js`. */
export const successScript = new URL('src/billing/browser/success.ts', root)

/** Maximum size of a form, which contains at most a key and an email address. */
const MAX_FORM_BYTES = bodyLimits.smallForm.most

/** The cookie with a purchase's secret. Without it, the page of the purchase shows nothing. */
const PURCHASE_COOKIE = 'allclear_purchase'
/** The cookie with a renewal token, which lets a payer's browser see the state of the payment. */
const RENEWAL_COOKIE = 'allclear_renewal'
/** The lifetime of both cookies: longer than the payment server watches any invoice. */
const COOKIE_LIFETIME_MS = 30 * DAY

/** The dependencies of the pages. */
interface Options {
  readonly site: Site
  readonly config: Config
  /** @throws Unauthenticated when the credential is invalid. */
  readonly contextOf: (c: Context, credential: string) => Promise<BuyerContext>
  readonly visitorOf: (c: Context) => BuyerContext
}

/**
 * Creates `/pricing` and the purchase pages. They work without JavaScript. Forms submit keys; URLs never contain one.
 */
export function billingPages(options: Options): Hono {
  const app = new Hono()
  addPricing(app, options)
  addRenewal(app, options)
  addPurchase(app, options)
  return app
}

/** Adds the pricing page, and its forms that start an upgrade and buy a check plan. */
function addPricing(app: Hono, options: Options): void {
  const { site, config, contextOf, visitorOf } = options

  app.get('/pricing', (c) => respondWithPricing(c, options))

  app.post('/pricing/upgrade', (c) =>
    handleForm(c, options, 'tier', async (form) => {
      const ctx = await contextOf(c, form.get('key')?.trim() || 'none')
      const { organizationId, tier, url } = await startUpgrade(ctx, form.get('tier') ?? '')
      const organization = await readOrganization(ctx, organizationId)
      const page = unindexedPage('Continue to payment')
      return respondWithPage(c, site, page, <ConfirmUpgrade {...{ organization, tier, config, url }} />)
    }),
  )

  app.post('/pricing/check-plan', (c) =>
    handleForm(c, options, 'plan', async (form) => {
      const key = form.get('key')?.trim() || null
      const ctx = key === null ? visitorOf(c) : await contextOf(c, key)
      const email = form.get('email')?.trim() || null
      const { invoice, secret } = await buyCheckPlan(ctx, { currency: form.get('currency'), email })
      if (secret === null) return confirmExtension(c, site, ctx, invoice)
      const path = purchasePath(invoice.id)
      setPaymentCookie(c, site, { name: PURCHASE_COOKIE, value: secret, path })
      return c.redirect(path, 303)
    }),
  )
}

function respondWithPricing(
  c: Context,
  { site, config, visitorOf }: Options,
  problem: FormError | null = null,
  status: 200 | ErrorStatus = 200,
): Response {
  const hasCoins = visitorOf(c).billing.btcpay !== null
  const page = {
    title: `${pricingTitle(config, hasCoins)} · Allclear`,
    description: 'What each tier of status pages and blacklist checks includes.',
    path: '/pricing',
    indexed: true,
  }
  return respondWithPage(c, site, page, <Pricing {...{ config, hasCoins, problem }} />, status)
}

/** Handles a submitted form. Shows an expected error on the page with the form. */
async function handleForm(
  c: Context,
  options: Options,
  of: FormError['of'],
  work: (form: URLSearchParams) => Promise<Response>,
): Promise<Response> {
  try {
    return withPrivateHeaders(await work(await readFields(nodeRequest(c), MAX_FORM_BYTES)))
  } catch (error) {
    if (!isExpectedError(error)) throw error
    const problem = { of, field: fieldOf(error), message: messageOf(error) }
    return respondWithPricing(c, options, problem, statusOf(error))
  }
}

/** Responds with the confirmation of an extension, and sets the cookie that gives access to the state of the payment. */
async function confirmExtension(
  c: Context,
  site: Site,
  ctx: BillingContext,
  invoice: CheckPlanInvoice,
): Promise<Response> {
  const id = requireScope(ctx, 'READ')
  const organization = await readOrganization(ctx, id)
  setPaymentCookie(c, site, { name: RENEWAL_COOKIE, value: renewalToken(ctx, id, ctx.now()), path: RENEWAL_PATH })
  return respondWithPage(c, site, unindexedPage('Your purchase'), <ConfirmExtension {...{ organization, invoice }} />)
}

/** Adds the page for renewing a check plan, which opens with a mailed link or the buyer's cookie. */
function addRenewal(app: Hono, options: Options): void {
  const { site, visitorOf } = options

  app.get(RENEWAL_PATH, (c) =>
    respondWithRenewal(c, options, c.req.query('token') ?? getCookie(c, RENEWAL_COOKIE) ?? ''),
  )

  app.post(RENEWAL_PATH, async (c) => {
    let token = ''
    try {
      const form = await readFields(nodeRequest(c), MAX_FORM_BYTES)
      token = form.get('token') ?? ''
      const checkoutUrl = await renewCheckPlan(visitorOf(c), token, form.get('currency'))
      setPaymentCookie(c, site, { name: RENEWAL_COOKIE, value: token, path: RENEWAL_PATH })
      return withPrivateHeaders(c.redirect(checkoutUrl, 303))
    } catch (error) {
      if (isExpectedError(error)) return respondWithRenewal(c, options, token, messageOf(error), statusOf(error))
      throw error
    }
  })
}

/** Responds with the renewal page and an optional error. */
async function respondWithRenewal(
  c: Context,
  { site, visitorOf }: Options,
  token: string,
  problem: string | null = null,
  status: 200 | ErrorStatus = 200,
): Promise<Response> {
  const ctx = visitorOf(c)
  const page = unindexedPage('Your check plan')
  try {
    const found = await findRenewal(ctx, token)
    // A visitor without a token in the URL comes back from paying and waits for the result.
    const isBack = c.req.method === 'GET' && c.req.query('token') === undefined
    if (found.payment === 'SEEN' || (found.payment === 'INVOICED' && isBack)) c.header('Refresh', '15')
    const props = { renewal: found, now: ctx.now(), hasCoins: ctx.billing.btcpay !== null, token, problem }
    const response = respondWithPage(c, site, page, <Renew {...props} />, status)
    response.headers.set('Content-Security-Policy', externalFormPolicy)
    return withPrivateHeaders(response)
  } catch (error) {
    if (!(error instanceof NotFound)) throw error
    return withPrivateHeaders(respondWithPage(c, site, page, <NothingToRenew reason={error.message} />, 404))
  }
}

/** Adds the page of a purchase. It shows the state of the payment, and the key once. */
function addPurchase(app: Hono, options: Options): void {
  app.get('/billing/check-plan/:id', (c) =>
    respondWithPurchase(c, options, async (ctx, id, secret) => ({
      invoice: await findPurchase(ctx, id, secret),
      apiKey: null,
    })),
  )
  // Uses POST, because the key is shown only once, and a prefetch must not consume it.
  app.post('/billing/check-plan/:id', (c) => respondWithPurchase(c, options, claimCheckPlan))
}

async function respondWithPurchase(
  c: Context,
  { site, visitorOf }: Options,
  find: (ctx: BillingContext, id: string, secret: string) => ReturnType<typeof claimCheckPlan>,
): Promise<Response> {
  try {
    const { invoice, apiKey } = await find(visitorOf(c), c.req.param('id') ?? '', getCookie(c, PURCHASE_COOKIE) ?? '')
    if (isOpen(invoice)) c.header('Refresh', '15')
    const page = unindexedPage('Your purchase')
    return withPrivateHeaders(
      respondWithPage(c, site, page, <PurchaseStatus invoice={invoice} secret={apiKey?.secret ?? null} />),
    )
  } catch (error) {
    if (error instanceof NotFound) return errorPage(c, site, { status: 404 })
    if (error instanceof DomainError) return checkoutErrorPage(c, site, error)
    throw error
  }
}

/** Sets the headers of a private page: no caching, and no referrer for linked sites. */
function withPrivateHeaders(response: Response): Response {
  response.headers.set('Cache-Control', 'no-store')
  response.headers.set('Referrer-Policy', 'no-referrer')
  return response
}

/** Lets forms redirect to a payment server at any host, because browsers apply form-action to redirects too. */
const externalFormPolicy = pageHeaders['content-security-policy'].replace(
  "form-action 'self'",
  "form-action 'self' http: https:",
)

function setPaymentCookie(
  c: Context,
  site: Site,
  { name, value, path }: { readonly name: string; readonly value: string; readonly path: string },
): void {
  setCookie(c, name, value, {
    path,
    httpOnly: true,
    // Sent when the payment server redirects the buyer back.
    sameSite: 'Lax',
    secure: site.baseUrl.startsWith('https:'),
    maxAge: COOKIE_LIFETIME_MS / SECOND,
  })
}

/** Returns whether an error concerns the request and its message is safe to show. */
function isExpectedError(error: unknown): error is DomainError | HTTPException {
  return error instanceof DomainError || error instanceof HTTPException
}

/** Returns the form field that an error concerns, or null. */
function fieldOf(error: Error): FormError['field'] {
  if (error instanceof Unauthenticated) return 'key'
  return error instanceof Invalid && error.issues.some(({ path }) => path[0] === 'email') ? 'email' : null
}

type ErrorStatus = 400 | 429

function statusOf(error: Error): ErrorStatus {
  return error instanceof LimitExceeded ? 429 : 400
}

/** Returns the text of an error for a page. For an invalid input, it has only the issues. */
function messageOf(error: Error): string {
  if (!(error instanceof Invalid) || error.issues.length === 0) return error.message
  return `${error.issues.map(({ path, message }) => `The ${path.join('.')} ${message}`).join('. ')}.`
}
