import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { HTTPException } from 'hono/http-exception'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { requireScope } from '../../core/access.ts'
import { DomainError, NotFound } from '../../core/errors.ts'
import { SECOND } from '../../core/time.ts'
import { decodeCursor } from '../../event-log/event.ts'
import type { EventLog } from '../../event-log/tail.ts'
import type { Site } from '../../http/page/layout.tsx'
import { errorResponse } from '../../http/response/errors.ts'
import type { BillingContext } from '../context.ts'
import { cancelledPage, checkoutErrorPage, successPage } from '../html/checkout-result.tsx'
import { limitsOf, primarySubscription, usageOf } from '../overview.ts'
import {
  findCheckoutOutcome,
  organizationOfToken,
  PAYER_TOKEN_TTL_MS,
  parsePaidTier,
  payerToken,
  paymentLink,
  recordCheckout,
  upgradeUrls,
} from '../subscription/checkout.ts'
import { streamTierChanges } from '../subscription/tier-stream.ts'
import { statusToJson } from './rest-schema.ts'

/** Dependencies of the billing routes. */
export interface BillingRouteOptions {
  readonly site: Site
  readonly eventLog: EventLog
  /** Aborts when the service stops, which ends open streams. */
  readonly closing: AbortSignal
  /** @throws Unauthenticated when the credential in the headers is invalid. */
  contextOf(c: HttpContext): Promise<BillingContext>
  visitorOf(c: HttpContext): BillingContext
}

/** The cookie that lets a payer's browser see the outcome of a checkout. */
const PAYER_COOKIE = 'allclear_payer'

/** Creates the routes of contract §3 for callers and payers; `webhook.ts` serves payment providers. */
export function billingRoutes(options: BillingRouteOptions): Hono {
  const { site, eventLog, closing } = options
  const app = new Hono()

  get('/checkout/:tier', async (c) => {
    const tier = parsePaidTier(c.req.param('tier') ?? '')
    const token = c.req.query('token')
    const ctx = token === undefined ? await options.contextOf(c) : options.visitorOf(c)
    const organizationId = token === undefined ? requireScope(ctx, 'READ') : organizationOfToken(ctx, token)
    const link = await paymentLink(ctx, organizationId, tier, { own: c.req.query('own') === 'true' })
    await recordCheckout(ctx, organizationId, tier)
    setCookie(c, PAYER_COOKIE, payerToken(ctx, organizationId, tier), {
      path: '/api/v1/billing',
      httpOnly: true,
      // Sent when the provider redirects the payer back.
      sameSite: 'Lax',
      secure: site.baseUrl.startsWith('https:'),
      maxAge: PAYER_TOKEN_TTL_MS / SECOND,
    })
    return c.redirect(link, 303)
  })

  get('/status', async (c) => {
    const ctx = await options.contextOf(c)
    const id = requireScope(ctx, 'READ')
    const organization = await readOrganization(ctx, id)
    const usage = await usageOf(ctx, organization)
    const subscription = await primarySubscription(ctx, id)
    const urls = upgradeUrls(ctx, organization)
    return c.json(statusToJson(organization, limitsOf(ctx, organization), usage, subscription, urls))
  })

  get('/success', async (c) => {
    if (wantsJson(c)) return c.json({ status: 'success' })
    const ctx = options.visitorOf(c)
    return successPage(c, site, await findCheckoutOutcome(ctx, getCookie(c, PAYER_COOKIE) ?? ''))
  })

  get('/success/live', async (c) => {
    const outcome = await findCheckoutOutcome(options.visitorOf(c), getCookie(c, PAYER_COOKIE) ?? '')
    if (outcome === null) throw new NotFound('This browser has no known checkout.')
    const changes = await eventLog.follow(
      outcome.organization.id,
      decodeCursor(c.req.query('after') ?? '') ?? outcome.organization.lastSeq,
      ({ kind }) => kind === 'TIER_CHANGED',
    )
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' }
    return c.body(streamTierChanges(changes, closing), 200, headers)
  })

  get('/cancel', async (c) => (wantsJson(c) ? c.json({ status: 'cancelled' }) : cancelledPage(c, site)))

  app.all('*', (c) => {
    const { log, now } = options.visitorOf(c)
    return errorResponse(c, new NotFound('No route matches this path.'), now(), log)
  })

  /** Adds a read-only route. Its errors are JSON, or pages for browsers. */
  function get(path: string, work: (c: HttpContext) => Promise<Response>): void {
    app.all(path, async (c) => {
      c.header('Cache-Control', 'no-store')
      c.header('Vary', 'Accept, Cookie')
      try {
        requireReadMethod(c)
        return await work(c)
      } catch (error) {
        const { log, now } = options.visitorOf(c)
        if (isBrowser(c) && error instanceof DomainError) return checkoutErrorPage(c, site, error)
        return errorResponse(c, error, now(), log)
      }
    })
  }

  return app
}

const accepts = (c: HttpContext, type: string) => (c.req.header('accept') ?? '').includes(type)
const isBrowser = (c: HttpContext) => accepts(c, 'text/html')
const wantsJson = (c: HttpContext) => accepts(c, 'application/json') && !isBrowser(c)

function requireReadMethod(c: HttpContext): void {
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return
  c.header('Allow', 'GET, HEAD')
  throw new HTTPException(405, { message: 'This path accepts GET only.' })
}
