import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { DomainError } from '../../errors.ts'
import { Conflict, NotFound, Unauthenticated, Unavailable } from '../../errors.ts'
import { cursorOf } from '../../eventlog/event.ts'
import { ErrorContent } from '../../http/error-page.tsx'
import type { Site } from '../../http/layout.tsx'
import { respondWithPage } from '../../http/layout.tsx'
import type { Outcome } from '../checkout.ts'
import { tierTitle } from './tier-title.ts'

/** The page a payer is sent back to after paying; what it shows is what the provider has told us, not that they came. */
export function successPage(c: Context, site: Site, outcome: Outcome | null): Response {
  if (outcome === null) return thanksPage(c, site)
  const { organization, wanted, isDone } = outcome
  const title = isDone ? `You are on ${tierTitle(organization.tier)}` : 'Thank you for your payment'
  const page = { ...hiddenPage(title), ...(!isDone && { scripts: ['success.js'] }) }
  const content = isDone ? (
    <section class="hero">
      <p class="eyebrow">{organization.name}</p>
      <h1>{title}</h1>
      <p class="lead">Your payment has arrived, and the new limits hold already.</p>
    </section>
  ) : (
    <section class="hero" data-after={cursorOf(organization.lastSeq)}>
      <p class="eyebrow">{organization.name}</p>
      <h1>{title}</h1>
      <p class="lead" role="status">
        We are waiting for the payment provider’s word, which usually takes seconds. This page shows {tierTitle(wanted)}{' '}
        as soon as it comes.
      </p>
      <p>
        At present the organization is on {tierTitle(organization.tier)}. Nothing more is needed from you; the page can
        be closed.
      </p>
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
        Your organization’s limits rise as soon as the payment provider tells us that it has gone through, usually
        within seconds.
      </p>
    </section>
  )
  return respondWithPage(c, site, hiddenPage('Thank you for your payment'), content)
}

/** The page a payer is sent back to who did not pay. */
export function cancelledPage(c: Context, site: Site): Response {
  const content = (
    <section class="hero">
      <h1>Nothing was paid</h1>
      <p class="lead">The payment was not finished, and nothing has changed.</p>
      <p class="actions">
        <a class="button" href="/pricing">
          Back to the prices
        </a>
      </p>
    </section>
  )
  return respondWithPage(c, site, hiddenPage('Nothing was paid'), content)
}

const titles: readonly (readonly [abstract new (...args: never[]) => DomainError, ContentfulStatusCode, string])[] = [
  [NotFound, 404, 'There is no such thing to buy'],
  [Unauthenticated, 401, 'This address cannot be used'],
  [Conflict, 409, 'There is nothing to upgrade'],
  [Unavailable, 503, 'This cannot be bought now'],
]

/** What a browser is told that followed an upgrade address which does not lead on. */
export function refusalPage(c: Context, site: Site, error: DomainError): Response {
  const [, status, title] = titles.find(([type]) => error instanceof type) ?? [null, 400, 'This does not work']
  const content = (
    <ErrorContent status={status} title={title}>
      <p class="lead">{error.message}</p>
      <p class="actions">
        <a class="button" href="/pricing">
          To the prices
        </a>
      </p>
    </ErrorContent>
  )
  return respondWithPage(c, site, hiddenPage(title), content, status as ContentfulStatusCode)
}

/** A page for one reader, without an address that others could use. */
export function hiddenPage(title: string) {
  return { title: `${title} · Allclear`, description: title, path: null, indexed: false }
}
