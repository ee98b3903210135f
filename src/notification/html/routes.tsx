import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { organizationOfHost } from '../../account/custom-domain.ts'
import { slugText } from '../../account/page-settings.ts'
import { DomainError, LimitExceeded, NotFound, RateLimited } from '../../core/errors.ts'
import { root } from '../../core/paths.ts'
import type { Organization, Subscriber } from '../../generated/prisma/client.ts'
import type { Topic } from '../../generated/prisma/enums.ts'
import { readBody } from '../../http/body.ts'
import { errorPage } from '../../http/error-page.tsx'
import { hostNameOf } from '../../http/host.ts'
import type { Site } from '../../http/layout.tsx'
import { nodeRequest } from '../../http/node-request.ts'
import { isOwnOrigin } from '../../http/own-origin.ts'
import { addressKeys } from '../address.ts'
import { pageUrl } from '../content.ts'
import type { NotificationContext } from '../context.ts'
import { isMailEnabled } from '../context.ts'
import { SUBSCRIPTION_PATH } from '../links.ts'
import { subscribe } from '../subscribe.ts'
import {
  confirmSubscription,
  isConfirmable,
  rotateWebhookSecret,
  subscriberByToken,
  unsubscribe,
  updateSubscription,
} from '../subscriber.ts'
import { secretsOf } from '../token.ts'
import type { PageLink } from './frame.tsx'
import { respondInFrame } from './frame.tsx'
import { Manage } from './manage.tsx'
import type { PreferenceProps } from './preferences.tsx'
import { SubscribeForm, SubscriptionRequested } from './subscribe.tsx'

/** The style sheet of pages about subscriptions; minified as `subscribe.css`. */
export const subscribeSheet = new URL('src/notification/subscribe.css', root)

/** A form with a thousand selected services has about 40 KiB. */
const MAX_FORM_BYTES = 64 * 1024

/**
 * Creates the routes of the pages to subscribe, and, by the link of a message, to confirm, change and end a subscription.
 * They need neither login nor script.
 */
export function subscriptionPages(options: {
  readonly site: Site
  readonly contextOf: (c: HttpContext) => NotificationContext
}): Hono {
  const { site, contextOf } = options
  const app = new Hono()

  // The second path is on the custom domain.
  for (const path of ['/status/:slug/subscribe', '/subscribe']) {
    app.get(path, (c) => answer(c, async () => showForm(c, await requestedOrganization(c, contextOf(c), site), null)))

    app.post(path, (c) =>
      answer(c, async () => {
        if (!isOwnOrigin(nodeRequest(c))) return c.text('Submit this form from its own page.', 403)
        const form = new URLSearchParams(await readBody(nodeRequest(c), MAX_FORM_BYTES))
        const organization = await requestedOrganization(c, contextOf(c), site)
        try {
          await subscribe(contextOf(c), { slug: organization.slug, ...addressIn(form), ...preferencesIn(form) })
        } catch (error) {
          if (!(error instanceof DomainError)) throw error
          return await showForm(c, organization, { form, error })
        }
        return respondInFrame(c, site, linkOf(organization), 'Check your messages', <SubscriptionRequested />)
      }),
    )
  }

  app.get(`${SUBSCRIPTION_PATH}/:token`, (c) => answer(c, () => showSubscription(c, null)))

  // Mail programs post to this address (List-Unsubscribe); opening it as a page must not unsubscribe.
  app.get(`${SUBSCRIPTION_PATH}/:token/unsubscribe`, (c) =>
    c.redirect(`${SUBSCRIPTION_PATH}/${c.req.param('token')}`, 303),
  )

  const steps = {
    '': {
      done: 'Your settings are saved.',
      do: async (c, ctx, token) => {
        await updateSubscription(ctx, {
          token,
          ...preferencesIn(new URLSearchParams(await readBody(nodeRequest(c), MAX_FORM_BYTES))),
        })
      },
    },
    '/confirm': {
      done: 'You’re subscribed.',
      do: async (_c, ctx, token) => void (await confirmSubscription(ctx, token)),
    },
    '/unsubscribe': { done: null, do: async (_c, ctx, token) => void (await unsubscribe(ctx, token)) },
    '/secret': {
      done: 'Your new signing secret is active.',
      do: async (_c, ctx, token) => void (await rotateWebhookSecret(ctx, token)),
    },
  } as const satisfies Record<string, Step>

  for (const [path, step] of Object.entries<Step>(steps)) {
    app.post(`${SUBSCRIPTION_PATH}/:token${path}`, (c) =>
      answer(c, async () => {
        try {
          await step.do(c, contextOf(c), c.req.param('token') ?? '')
          return await showSubscription(c, { done: step.done, problem: null, status: 200 })
        } catch (error) {
          if (!(error instanceof DomainError)) throw error
          // Throws NotFound when the subscription does not exist.
          return await showSubscription(c, { done: null, problem: error.message, status: 400 })
        }
      }),
    )
  }

  /** Answers NotFound with the common 404 page. */
  async function answer(c: HttpContext, work: () => Promise<Response>): Promise<Response> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof NotFound) return errorPage(c, site, { status: 404 })
      // The form is too large.
      if (error instanceof HTTPException) return error.getResponse()
      throw error
    }
  }

  async function showForm(
    c: HttpContext,
    organization: Organization,
    refused: { readonly form: URLSearchParams; readonly error: DomainError } | null,
  ): Promise<Response> {
    const ctx = contextOf(c)
    const { topics, serviceIds } = refused === null ? { topics: null, serviceIds: [] } : preferencesIn(refused.form)
    const content = (
      <SubscribeForm
        name={organization.name}
        action={c.req.path}
        isMailEnabled={isMailEnabled(ctx.config)}
        given={
          refused && {
            channel: refused.form.get('channel') ?? '',
            address: refused.form.get('address') ?? '',
            problem: refused.error.message,
          }
        }
        services={await servicesOf(ctx, organization.id)}
        topics={topics ?? ['INCIDENTS', 'MAINTENANCES']}
        serviceIds={serviceIds}
      />
    )
    const retryAt = refused === null ? null : retryTime(refused.error)
    // RFC 9110 §10.2.3 allows a date as well as seconds.
    if (retryAt !== null) c.header('retry-after', retryAt.toUTCString())
    const status = refused === null ? 200 : retryAt === null ? 400 : 429
    return respondInFrame(c, site, linkOf(organization), 'Get updates', content, status)
  }

  async function showSubscription(
    c: HttpContext,
    result: { readonly done: string | null; readonly problem: string | null; readonly status: 200 | 400 } | null,
  ): Promise<Response> {
    const ctx = contextOf(c)
    const subscriber = await subscriberByToken(ctx, c.req.param('token') ?? '')
    const organization = await ctx.db.organization.findUniqueOrThrow({ where: { id: subscriber.organizationId } })
    const content = (
      <Manage
        subscriber={subscriber}
        name={organization.name}
        path={`${SUBSCRIPTION_PATH}/${c.req.param('token')}`}
        confirmable={isConfirmable(subscriber, ctx.now())}
        preferences={await preferencesOf(ctx, subscriber)}
        secret={secretsOf(ctx.seal, subscriber, ctx.now())[0] ?? null}
        done={result?.done ?? null}
        problem={result?.problem ?? null}
      />
    )
    return respondInFrame(c, site, linkOf(organization), 'Your subscription', content, result?.status ?? 200)
  }

  function linkOf(organization: Pick<Organization, 'name' | 'slug' | 'customDomain'>): PageLink {
    return { name: organization.name, url: pageUrl(organization, site.baseUrl) }
  }

  return app
}

/** An action of a subscriber and its success message. */
interface Step {
  readonly done: string | null
  do(c: HttpContext, ctx: NotificationContext, token: string): Promise<void>
}

/** Reads the organization of a form by the slug in its path or by the custom domain. @throws NotFound when there is none. */
async function requestedOrganization(
  c: HttpContext,
  { db }: NotificationContext,
  site: Pick<Site, 'baseUrl'>,
): Promise<Organization> {
  const slug = c.req.param('slug')
  const host = hostNameOf(c.req.header('host'))
  const where =
    slug === undefined
      ? { id: (await organizationOfHost({ db, site }, host)) ?? '' }
      : { slug: slugText.safeParse(slug).success ? slug : '' }
  const organization = await db.organization.findUnique({ where: { ...where, deletedAt: null } })
  if (!organization) throw new NotFound('Status page not found.')
  return organization
}

function servicesOf({ db }: NotificationContext, organizationId: string): Promise<PreferenceProps['services']> {
  return db.service.findMany({
    where: { organizationId },
    select: { id: true, name: true },
    orderBy: [{ position: 'asc' }, { id: 'asc' }],
  })
}

async function preferencesOf(
  ctx: NotificationContext,
  { id, organizationId, topics }: Subscriber,
): Promise<PreferenceProps> {
  const chosen = await ctx.db.subscriberService.findMany({ where: { subscriberId: id } })
  const services = await servicesOf(ctx, organizationId)
  return { services, topics, serviceIds: chosen.map(({ serviceId }) => serviceId) }
}

/** Returns when a rate-limited request may be retried; null for other errors. */
function retryTime(error: DomainError): Date | null {
  if (error instanceof RateLimited) return error.retryAt
  return error instanceof LimitExceeded ? error.resetsAt : null
}

/** Returns the address in a form as an input field named after its channel. */
function addressIn(form: URLSearchParams): Record<string, unknown> {
  const [key] = Object.entries(addressKeys).find(([, kind]) => kind === form.get('channel')) ?? []
  const address = form.get('address') ?? ''
  if (key === undefined) return {}
  return { [key]: key === 'telegram' ? { botToken: form.get('botToken') ?? '', chatId: address } : address }
}

/** Returns the selected topics and services of a form; the domain validates them. */
function preferencesIn(form: URLSearchParams): { topics: Topic[]; serviceIds: string[] } {
  return { topics: form.getAll('topics') as Topic[], serviceIds: form.getAll('serviceIds') }
}
