import type { Context } from 'hono'
import { Hono } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { HTTPException } from 'hono/http-exception'
import { requireScope } from '../account/access.ts'
import type { Config } from '../config.ts'
import { DomainError, Invalid, LimitExceeded, NotFound, Unauthenticated } from '../errors.ts'
import type { CheckPlanInvoice } from '../generated/prisma/client.ts'
import { readBody } from '../http/body.ts'
import { errorPage } from '../http/error-page.tsx'
import { incoming } from '../http/incoming.ts'
import type { Site } from '../http/layout.tsx'
import { pageHeaders, respondWithPage } from '../http/layout.tsx'
import { root } from '../paths.ts'
import { DAY, SECOND } from '../time.ts'
import { buyCheckPlan, claimCheckPlan, findPurchase, purchasePath, RENEWAL_PATH } from './check-plan.ts'
import { paidTierNamed, paymentLink, upgradeUrl } from './checkout.ts'
import type { BillingContext, BuyerContext } from './context.ts'
import type { Problem } from './html/pricing.tsx'
import { Pricing } from './html/pricing.tsx'
import { Confirm, Prolong, Purchased } from './html/purchase.tsx'
import { NothingToRenew, Renew } from './html/renewal.tsx'
import { hiddenPage, refusalPage } from './html/returned.tsx'
import { findRenewal, renewalToken, renewCheckPlan } from './renewal.ts'

/** The script that waits for a payment to arrive; bundled as `success.js`. */
export const successScript = new URL('src/billing/browser/success.ts', root)

/** The largest form of ours is a key and an address. */
const LARGEST_FORM = 8 * 1024

/** What a buyer's browser keeps of a purchase: without it nothing of the purchase is shown. */
const PURCHASE_COOKIE = 'allclear_purchase'
/** What the browser keeps that went on to pay for an organization's plan, by a key or a reminder, to be shown what came of it. */
const RENEWAL_COOKIE = 'allclear_renewal'
/** Longer than any invoice is watched. */
const KEPT = 30 * DAY

/** `/pricing`, and the pages of buying. They work without JavaScript; a key is only ever sent in a form, never in an address. */
export function billingPages(pages: {
  readonly site: Site
  readonly config: Config
  /** @throws Unauthenticated when the credential does not hold. */
  readonly contextOf: (c: Context, credential: string) => Promise<BuyerContext>
  readonly visitorOf: (c: Context) => BuyerContext
}): Hono {
  const { site, config, contextOf, visitorOf } = pages
  const app = new Hono()

  const pricing = (c: Context, problem: Problem | null = null, status: 200 | ProblemStatus = 200) => {
    const page = {
      title: 'Prices · Allclear',
      description: 'What status pages and blacklist checks cost, and what each tier includes.',
      path: '/pricing',
      indexed: true,
    }
    const hasCoins = visitorOf(c).billing.btcpay !== null
    return respondWithPage(c, site, page, <Pricing {...{ config, hasCoins, problem }} />, status)
  }

  app.get('/pricing', (c) => pricing(c))

  app.post('/pricing/upgrade', (c) =>
    submitted(c, 'tier', async (form) => {
      const tier = paidTierNamed(form.get('tier') ?? '')
      const ctx = await contextOf(c, form.get('key')?.trim() || 'none')
      const organizationId = requireScope(ctx, 'READ')
      // Said here, before the way leads elsewhere.
      await paymentLink(ctx, organizationId, tier)
      const organization = await ctx.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
      const url = upgradeUrl(ctx, organizationId, tier === 'PRO' ? 'pro' : 'team')
      const page = hiddenPage('Go on to pay')
      return respondWithPage(c, site, page, <Confirm {...{ organization, tier, config, url }} />)
    }),
  )

  app.post('/pricing/check-plan', (c) =>
    submitted(c, 'plan', async (form) => {
      const key = form.get('key')?.trim() || null
      const ctx = key === null ? visitorOf(c) : await contextOf(c, key)
      const email = form.get('email')?.trim() || null
      const { invoice, secret } = await buyCheckPlan(ctx, { currency: form.get('currency'), email })
      if (secret === null) return prolong(c, ctx, invoice)
      const path = purchasePath(invoice.id)
      keep(c, site, { name: PURCHASE_COOKIE, value: secret, path })
      return c.redirect(path, 303)
    }),
  )

  /** The last step here for who has a key; the browser keeps what shows it what came of the payment. */
  async function prolong(c: Context, ctx: BillingContext, invoice: CheckPlanInvoice): Promise<Response> {
    const id = requireScope(ctx, 'READ')
    const organization = await ctx.db.organization.findUniqueOrThrow({ where: { id } })
    keep(c, site, { name: RENEWAL_COOKIE, value: renewalToken(ctx, id, ctx.now()), path: RENEWAL_PATH })
    return respondWithPage(c, site, hiddenPage('Your purchase'), <Prolong {...{ organization, invoice }} />)
  }

  /** What a form leads to; what is wrong with it is said on the page that it is on. */
  async function submitted(
    c: Context,
    of: Problem['of'],
    work: (form: URLSearchParams) => Promise<Response>,
  ): Promise<Response> {
    try {
      return keptNowhere(await work(new URLSearchParams(await readBody(incoming(c), LARGEST_FORM))))
    } catch (error) {
      if (isExpected(error))
        return pricing(c, { of, field: fieldOf(error), message: sentenceOf(error) }, statusOf(error))
      throw error
    }
  }

  app.get(RENEWAL_PATH, (c) => renewal(c, c.req.query('token') ?? getCookie(c, RENEWAL_COOKIE) ?? ''))

  app.post(RENEWAL_PATH, async (c) => {
    let token = ''
    try {
      const form = new URLSearchParams(await readBody(incoming(c), LARGEST_FORM))
      token = form.get('token') ?? ''
      const checkoutUrl = await renewCheckPlan(visitorOf(c), token, form.get('currency'))
      keep(c, site, { name: RENEWAL_COOKIE, value: token, path: RENEWAL_PATH })
      return keptNowhere(c.redirect(checkoutUrl, 303))
    } catch (error) {
      if (isExpected(error)) return renewal(c, token, sentenceOf(error), statusOf(error))
      throw error
    }
  })

  /** The page of a plan that is renewed; with what cannot be done, when something cannot. */
  async function renewal(
    c: Context,
    token: string,
    problem: string | null = null,
    status: 200 | ProblemStatus = 200,
  ): Promise<Response> {
    const ctx = visitorOf(c)
    const page = hiddenPage('Your check plan')
    try {
      const found = await findRenewal(ctx, token)
      // Who has no token in the address has gone on to pay, and waits for what comes of it.
      const isBack = c.req.method === 'GET' && c.req.query('token') === undefined
      if (found.payment === 'SEEN' || (found.payment === 'INVOICED' && isBack)) c.header('Refresh', '15')
      const props = { renewal: found, now: ctx.now(), hasCoins: ctx.billing.btcpay !== null, token, problem }
      const response = respondWithPage(c, site, page, <Renew {...props} />, status)
      response.headers.set('Content-Security-Policy', leadingElsewhere)
      return keptNowhere(response)
    } catch (error) {
      if (!(error instanceof NotFound)) throw error
      return keptNowhere(respondWithPage(c, site, page, <NothingToRenew reason={error.message} />, 404))
    }
  }

  app.get('/billing/check-plan/:id', (c) =>
    purchase(c, async (ctx, id, secret) => ({ invoice: await findPurchase(ctx, id, secret), apiKey: null })),
  )
  // A form and no address: what fetches pages ahead must not use up the one time that the key is shown.
  app.post('/billing/check-plan/:id', (c) => purchase(c, claimCheckPlan))

  async function purchase(
    c: Context,
    find: (ctx: BillingContext, id: string, secret: string) => ReturnType<typeof claimCheckPlan>,
  ): Promise<Response> {
    try {
      const { invoice, apiKey } = await find(visitorOf(c), c.req.param('id') ?? '', getCookie(c, PURCHASE_COOKIE) ?? '')
      const isOpen = invoice.status === 'NEW' || invoice.status === 'PROCESSING'
      if (isOpen) c.header('Refresh', '15')
      const page = hiddenPage('Your purchase')
      return keptNowhere(
        respondWithPage(c, site, page, <Purchased invoice={invoice} secret={apiKey?.secret ?? null} />),
      )
    } catch (error) {
      if (error instanceof NotFound) return errorPage(c, site, { status: 404 })
      if (error instanceof DomainError) return refusalPage(c, site, error)
      throw error
    }
  }

  return app
}

/** A page that is for its reader alone: nobody keeps it, and no site that it leads to is told its address. */
function keptNowhere(response: Response): Response {
  response.headers.set('Cache-Control', 'no-store')
  response.headers.set('Referrer-Policy', 'no-referrer')
  return response
}

/** Browsers hold what a form leads on to against this as well, and payment servers may be anywhere. */
const leadingElsewhere = pageHeaders['content-security-policy'].replace(
  "form-action 'self'",
  "form-action 'self' http: https:",
)

function keep(
  c: Context,
  site: Site,
  { name, value, path }: { readonly name: string; readonly value: string; readonly path: string },
): void {
  setCookie(c, name, value, {
    path,
    httpOnly: true,
    // Sent along when the payment server leads the buyer back here.
    sameSite: 'Lax',
    secure: site.baseUrl.startsWith('https:'),
    maxAge: KEPT / SECOND,
  })
}

/** Whether an error is about what was sent, and its message for who sent it. */
function isExpected(error: unknown): error is DomainError | HTTPException {
  return error instanceof DomainError || error instanceof HTTPException
}

/** Which field of a form an error is about; null: none that is there. */
function fieldOf(error: Error): Problem['field'] {
  if (error instanceof Unauthenticated) return 'key'
  return error instanceof Invalid && error.issues.some(({ path }) => path[0] === 'email') ? 'email' : null
}

type ProblemStatus = 400 | 429

function statusOf(error: Error): ProblemStatus {
  return error instanceof LimitExceeded ? 429 : 400
}

/** What a person reads of an error: of an input, only what is wrong with it. */
function sentenceOf(error: Error): string {
  if (!(error instanceof Invalid) || error.issues.length === 0) return error.message
  return `${error.issues.map(({ path, message }) => `The ${path.join('.')} ${message}`).join('. ')}.`
}
