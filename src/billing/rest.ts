import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { HTTPException } from 'hono/http-exception'
import { requireScope } from '../account/access.ts'
import { DomainError, NotFound } from '../errors.ts'
import { positionOf } from '../eventlog/event.ts'
import type { EventLog } from '../eventlog/tail.ts'
import { errorResponse } from '../http/errors.ts'
import type { Site } from '../http/layout.tsx'
import { SECOND } from '../time.ts'
import {
  noteCheckout,
  organizationOfToken,
  outcomeOfCheckout,
  PAYER_TOKEN,
  paidTierNamed,
  payerToken,
  paymentLink,
  upgradeUrls,
} from './checkout.ts'
import type { BillingContext } from './context.ts'
import { cancelledPage, refusalPage, successPage } from './html/returned.tsx'
import { limitsOf, subscriptionOf, usageOfLimits } from './overview.ts'
import { statusToJson } from './rest-schema.ts'
import { tierChanges } from './tier-stream.ts'

/** Who calls, what changes, and how pages look. */
export interface BillingDoor {
  readonly site: Site
  readonly eventLog: EventLog
  /** Aborts when the service stops: what is open for long ends then. */
  readonly closing: AbortSignal
  /** @throws Unauthenticated when the credential in the headers does not hold. */
  contextOf(c: HttpContext): Promise<BillingContext>
  visitorOf(c: HttpContext): BillingContext
}

/** What a payer's browser keeps from the checkout until it is sent back, to be shown what came of it. */
const PAYER_COOKIE = 'allclear_payer'

/** The routes of contract §3 for callers and payers; providers have `webhook.ts`. */
export function billingRoutes(door: BillingDoor): Hono {
  const { site, eventLog, closing } = door
  const app = new Hono()

  get('/checkout/:tier', async (c) => {
    const tier = paidTierNamed(c.req.param('tier') ?? '')
    const token = c.req.query('token')
    const ctx = token === undefined ? await door.contextOf(c) : door.visitorOf(c)
    const organizationId = token === undefined ? requireScope(ctx, 'READ') : organizationOfToken(ctx, token)
    const link = await paymentLink(ctx, organizationId, tier, { own: c.req.query('own') === 'true' })
    await noteCheckout(ctx, organizationId, tier)
    setCookie(c, PAYER_COOKIE, payerToken(ctx, organizationId, tier), {
      path: '/api/v1/billing',
      httpOnly: true,
      // Sent along when the provider leads the payer back here.
      sameSite: 'Lax',
      secure: site.baseUrl.startsWith('https:'),
      maxAge: PAYER_TOKEN / SECOND,
    })
    return c.redirect(link, 303)
  })

  get('/status', async (c) => {
    const ctx = await door.contextOf(c)
    const id = requireScope(ctx, 'READ')
    const organization = await ctx.db.organization.findUniqueOrThrow({ where: { id } })
    const usage = await usageOfLimits(ctx, organization)
    const subscription = await subscriptionOf(ctx, id)
    const urls = upgradeUrls(ctx, organization)
    return c.json(statusToJson(organization, limitsOf(ctx, organization), usage, subscription, urls))
  })

  get('/success', async (c) => {
    if (wantsJson(c)) return c.json({ status: 'success' })
    const ctx = door.visitorOf(c)
    return successPage(c, site, await outcomeOfCheckout(ctx, getCookie(c, PAYER_COOKIE) ?? ''))
  })

  get('/success/live', async (c) => {
    const outcome = await outcomeOfCheckout(door.visitorOf(c), getCookie(c, PAYER_COOKIE) ?? '')
    if (outcome === null) throw new NotFound('No checkout of this browser is known.')
    const changes = await eventLog.follow(
      outcome.organization.id,
      positionOf(c.req.query('after') ?? '') ?? outcome.organization.lastSeq,
      ({ kind }) => kind === 'TIER_CHANGED',
    )
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' }
    return c.body(tierChanges(changes, closing), 200, headers)
  })

  get('/cancel', async (c) => (wantsJson(c) ? c.json({ status: 'cancelled' }) : cancelledPage(c, site)))

  app.all('*', (c) => {
    const { log, now } = door.visitorOf(c)
    return errorResponse(c, new NotFound('There is nothing at this path.'), now(), log)
  })

  /** A route that is only read; its refusals are JSON, and pages for browsers. */
  function get(path: string, work: (c: HttpContext) => Promise<Response>): void {
    app.all(path, async (c) => {
      c.header('Cache-Control', 'no-store')
      c.header('Vary', 'Accept, Cookie')
      try {
        allowReading(c)
        return await work(c)
      } catch (error) {
        const { log, now } = door.visitorOf(c)
        if (isBrowser(c) && error instanceof DomainError) return refusalPage(c, site, error)
        return errorResponse(c, error, now(), log)
      }
    })
  }

  return app
}

const accepts = (c: HttpContext, type: string) => (c.req.header('accept') ?? '').includes(type)
const isBrowser = (c: HttpContext) => accepts(c, 'text/html')
const wantsJson = (c: HttpContext) => accepts(c, 'application/json') && !isBrowser(c)

function allowReading(c: HttpContext): void {
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return
  c.header('Allow', 'GET, HEAD')
  throw new HTTPException(405, { message: 'This path takes GET only.' })
}
