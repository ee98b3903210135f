import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { ownerOfHost } from '../account/domain.ts'
import { slugText } from '../account/page-settings.ts'
import { DomainError, LimitExceeded, NotFound, RateLimited } from '../errors.ts'
import type { Organization, Subscriber } from '../generated/prisma/client.ts'
import type { Topic } from '../generated/prisma/enums.ts'
import { readBody } from '../http/body.ts'
import { errorPage } from '../http/error-page.tsx'
import { hostNameOf } from '../http/host.ts'
import { incoming } from '../http/incoming.ts'
import type { Site } from '../http/layout.tsx'
import { root } from '../paths.ts'
import { addressKeys } from './address.ts'
import type { NotificationContext } from './context.ts'
import { offersMail } from './context.ts'
import type { ChoiceProps } from './html/choices.tsx'
import type { PageLink } from './html/frame.tsx'
import { respondInFrame } from './html/frame.tsx'
import { Manage } from './html/manage.tsx'
import { Asked, SubscribeForm } from './html/subscribe.tsx'
import { pageUrl } from './letter.ts'
import { SUBSCRIPTION_PATH } from './links.ts'
import { subscribe } from './subscribe.ts'
import {
  confirmSubscription,
  isConfirmable,
  rotateWebhookSecret,
  subscriberOf,
  unsubscribe,
  updateSubscription,
} from './subscriber.ts'
import { secretsOf } from './token.ts'

/** What only the pages about subscriptions look like; minified as `subscribe.css`. */
export const subscribeSheet = new URL('src/notification/subscribe.css', root)

/** Forms with a thousand services ticked have about 40 KiB. */
const LARGEST_FORM = 64 * 1024

/**
 * The pages on which somebody subscribes, and by the link of a message confirms, changes and ends that; no login, and no
 * script, is needed.
 */
export function subscriptionPages(options: {
  readonly site: Site
  readonly contextOf: (c: HttpContext) => NotificationContext
}): Hono {
  const { site, contextOf } = options
  const app = new Hono()

  // The second is at the owner's own domain.
  for (const path of ['/status/:slug/subscribe', '/subscribe']) {
    app.get(path, (c) => answer(c, async () => showForm(c, await organizationAsked(c, contextOf(c), site), null)))

    app.post(path, (c) =>
      answer(c, async () => {
        if (!isFromHere(c)) return c.text('This form is taken from its own page only.', 403)
        const form = new URLSearchParams(await readBody(incoming(c), LARGEST_FORM))
        const organization = await organizationAsked(c, contextOf(c), site)
        try {
          await subscribe(contextOf(c), { slug: organization.slug, ...addressIn(form), ...choicesIn(form) })
        } catch (error) {
          if (!(error instanceof DomainError)) throw error
          return await showForm(c, organization, { form, error })
        }
        return respondInFrame(c, site, linkOf(organization), 'Almost done', <Asked />)
      }),
    )
  }

  app.get(`${SUBSCRIPTION_PATH}/:token`, (c) => answer(c, () => showSubscription(c, null)))

  // The address that mail programs are given; who opens it as a page is not unsubscribed by that.
  app.get(`${SUBSCRIPTION_PATH}/:token/unsubscribe`, (c) =>
    c.redirect(`${SUBSCRIPTION_PATH}/${c.req.param('token')}`, 303),
  )

  const steps = {
    '': {
      done: 'Your choice is saved.',
      do: async (c, ctx, token) => {
        await updateSubscription(ctx, {
          token,
          ...choicesIn(new URLSearchParams(await readBody(incoming(c), LARGEST_FORM))),
        })
      },
    },
    '/confirm': {
      done: 'Confirmed. From now on you are told.',
      do: async (_c, ctx, token) => void (await confirmSubscription(ctx, token)),
    },
    '/unsubscribe': { done: null, do: async (_c, ctx, token) => void (await unsubscribe(ctx, token)) },
    '/secret': {
      done: 'There is a new secret.',
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
          // When the subscription itself is not there, this says so.
          return await showSubscription(c, { done: null, problem: error.message, status: 400 })
        }
      }),
    )
  }

  /** What is not there is answered as any other address that leads nowhere. */
  async function answer(c: HttpContext, work: () => Promise<Response>): Promise<Response> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof NotFound) return errorPage(c, site, { status: 404 })
      // A form that is too large, which is none of ours.
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
    const { topics, serviceIds } = refused === null ? { topics: null, serviceIds: [] } : choicesIn(refused.form)
    const content = (
      <SubscribeForm
        name={organization.name}
        action={c.req.path}
        offersMail={offersMail(ctx.config)}
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
    // RFC 9110 §10.2.3 allows the moment itself as well as the seconds until it.
    if (retryAt !== null) c.header('retry-after', retryAt.toUTCString())
    const status = refused === null ? 200 : retryAt === null ? 400 : 429
    return respondInFrame(c, site, linkOf(organization), 'Get updates', content, status)
  }

  async function showSubscription(
    c: HttpContext,
    result: { readonly done: string | null; readonly problem: string | null; readonly status: 200 | 400 } | null,
  ): Promise<Response> {
    const ctx = contextOf(c)
    const subscriber = await subscriberOf(ctx, c.req.param('token') ?? '')
    const organization = await ctx.db.organization.findUniqueOrThrow({ where: { id: subscriber.organizationId } })
    const content = (
      <Manage
        subscriber={subscriber}
        name={organization.name}
        path={`${SUBSCRIPTION_PATH}/${c.req.param('token')}`}
        confirmable={isConfirmable(subscriber, ctx.now())}
        choices={await choicesOf(ctx, subscriber)}
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

/** Something that a subscriber does, and what it is told then. */
interface Step {
  readonly done: string | null
  do(c: HttpContext, ctx: NotificationContext, token: string): Promise<void>
}

/** Whose form is asked for: by the slug in its path, or by the owner's own domain. @throws NotFound when it is nobody's. */
async function organizationAsked(
  c: HttpContext,
  { db }: NotificationContext,
  site: Pick<Site, 'baseUrl'>,
): Promise<Organization> {
  const slug = c.req.param('slug')
  const host = hostNameOf(c.req.header('host'))
  const where =
    slug === undefined
      ? { id: (await ownerOfHost({ db, site }, host)) ?? '' }
      : { slug: slugText.safeParse(slug).success ? slug : '' }
  const organization = await db.organization.findUnique({ where: { ...where, deletedAt: null } })
  if (!organization) throw new NotFound('There is no such status page.')
  return organization
}

function servicesOf({ db }: NotificationContext, organizationId: string): Promise<ChoiceProps['services']> {
  return db.service.findMany({
    where: { organizationId },
    select: { id: true, name: true },
    orderBy: [{ position: 'asc' }, { id: 'asc' }],
  })
}

async function choicesOf(ctx: NotificationContext, { id, organizationId, topics }: Subscriber): Promise<ChoiceProps> {
  const chosen = await ctx.db.subscriberService.findMany({ where: { subscriberId: id } })
  const services = await servicesOf(ctx, organizationId)
  return { services, topics, serviceIds: chosen.map(({ serviceId }) => serviceId) }
}

/** When what was refused for being too much works again; null: that was not the reason. */
function retryTime(error: DomainError): Date | null {
  if (error instanceof RateLimited) return error.retryAt
  return error instanceof LimitExceeded ? error.resetsAt : null
}

/** The address in a form, as an input has it: the key of its channel says what it is. */
function addressIn(form: URLSearchParams): Record<string, unknown> {
  const [key] = Object.entries(addressKeys).find(([, kind]) => kind === form.get('channel')) ?? []
  const address = form.get('address') ?? ''
  if (key === undefined) return {}
  return { [key]: key === 'telegram' ? { botToken: form.get('botToken') ?? '', chatId: address } : address }
}

/** What is ticked in a form; what cannot be ticked is for the domain to refuse. */
function choicesIn(form: URLSearchParams): { topics: Topic[]; serviceIds: string[] } {
  return { topics: form.getAll('topics') as Topic[], serviceIds: form.getAll('serviceIds') }
}

/** Whether a form comes from a page of ours: browsers say where from; what says nothing is no browser, and has no cookies. */
function isFromHere(c: HttpContext): boolean {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  const origin = c.req.header('origin')
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === c.req.header('host'))
}
