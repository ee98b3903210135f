import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { DomainError } from '../../core/errors.ts'
import { Conflict, NotFound, Unauthenticated, Unavailable } from '../../core/errors.ts'
import { encodeCursor } from '../../event-log/event.ts'
import { ErrorContent } from '../../http/page/error-page.tsx'
import type { Site } from '../../http/page/layout.tsx'
import { respondWithPage } from '../../http/page/layout.tsx'
import type { CheckoutOutcome } from '../subscription/checkout.ts'
import { tierTitle } from './tier-title.ts'

/** Renders the return page after a payment. It shows the outcome from the webhook; the visit itself changes nothing. */
export function successPage(c: Context, site: Site, outcome: CheckoutOutcome | null): Response {
  if (outcome === null) return thanksPage(c, site)
  const { organization, wanted, isDone } = outcome
  const title = isDone ? `You are on ${tierTitle(organization.tier)}` : 'Thank you for your payment'
  const page = { ...unindexedPage(title), ...(!isDone && { scripts: ['success.js'] }) }
  const content = isDone ? (
    <section class="hero">
      <p class="eyebrow">{organization.name}</p>
      <h1>{title}</h1>
      <p class="lead">We received your payment. The new limits are active.</p>
    </section>
  ) : (
    <section class="hero" data-after={encodeCursor(organization.lastSeq)}>
      <p class="eyebrow">{organization.name}</p>
      <h1>{title}</h1>
      <p class="lead" role="status">
        Waiting for the payment provider, usually a few seconds. This page updates when {tierTitle(wanted)} is active.
      </p>
      <p>The organization is currently on {tierTitle(organization.tier)}. You can close this page.</p>
      <noscript>
        <meta http-equiv="refresh" content="5" />
      </noscript>
    </section>
  )
  return respondWithPage(c, site, page, content)
}

function thanksPage(c: Context, site: Site): Response {
  const content = (
    <section class="hero">
      <h1>Thank you for your payment</h1>
      <p class="lead">
        Your new limits become active when the payment provider confirms the payment, usually within seconds.
      </p>
    </section>
  )
  return respondWithPage(c, site, unindexedPage('Thank you for your payment'), content)
}

/** Renders the return page after a cancelled payment. */
export function cancelledPage(c: Context, site: Site): Response {
  const content = (
    <section class="hero">
      <h1>Nothing was paid</h1>
      <p class="lead">The payment was cancelled. Nothing has changed.</p>
      <p class="actions">
        <a class="button" href="/pricing">
          Back to prices
        </a>
      </p>
    </section>
  )
  return respondWithPage(c, site, unindexedPage('Nothing was paid'), content)
}

const titles: readonly (readonly [abstract new (...args: never[]) => DomainError, ContentfulStatusCode, string])[] = [
  [NotFound, 404, 'Unknown tier'],
  [Unauthenticated, 401, 'Link expired'],
  [Conflict, 409, 'Nothing to upgrade'],
  [Unavailable, 503, 'Not available'],
]

/** Renders the error page of an upgrade URL. */
export function checkoutErrorPage(c: Context, site: Site, error: DomainError): Response {
  const [, status, title] = titles.find(([type]) => error instanceof type) ?? [null, 400, 'Invalid request']
  const content = (
    <ErrorContent status={status} title={title}>
      <p class="lead">{error.message}</p>
      <p class="actions">
        <a class="button" href="/pricing">
          View prices
        </a>
      </p>
    </ErrorContent>
  )
  return respondWithPage(c, site, unindexedPage(title), content, status as ContentfulStatusCode)
}

/** Returns the properties of a page for one reader. It has no canonical URL and is not indexed. */
export function unindexedPage(title: string) {
  return { title: `${title} · Allclear`, description: title, path: null, indexed: false }
}
