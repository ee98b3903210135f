import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { Child } from 'hono/jsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { pageOnHost } from '../../account/custom-domain/hosted-page.ts'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { shownLogo } from '../../account/page/logo.ts'
import type { Page } from '../../account/page/page.ts'
import { readPage } from '../../account/page/page.ts'
import type { PageFinder } from '../../account/page/page-guard.ts'
import { pageLookupOf, pagesNamed } from '../../account/page/page-guard.ts'
import { slugText } from '../../account/page/page-settings.ts'
import { DomainError, Invalid, LimitExceeded, NotFound, RateLimited, TierLimitReached } from '../../core/errors.ts'
import { bodyLimits } from '../../core/input-limits.ts'
import { root } from '../../core/process/paths.ts'
import type { Subscriber } from '../../generated/prisma/client.ts'
import type { Topic } from '../../generated/prisma/enums.ts'
import type { Site } from '../../http/page/layout.tsx'
import { respondInOwnersFrame } from '../../http/page/owner-frame.tsx'
import { readFields } from '../../http/request/form-fields.ts'
import { hostNameOf } from '../../http/request/host-header.ts'
import { nodeRequest } from '../../http/request/node-request.ts'
import { isOwnOrigin } from '../../http/request/own-origin.ts'
import type { Catalogue, Language } from '../../language/catalogue.ts'
import { languages as allLanguages, wordsOf } from '../../language/catalogue.ts'
import {
  languageNamed,
  languageOfTag,
  offeredLanguages,
  ownersLang,
  preferredLanguage,
  segmentOf,
} from '../../language/choice.ts'
import { listServices } from '../../status/service/service-queries.ts'
import { titleIn } from '../../status/timeline/translations.ts'
import { pageUrl } from '../content/content.ts'
import { SUBSCRIPTION_PATH } from '../content/links.ts'
import type { NotificationContext } from '../context.ts'
import { isMailEnabled } from '../context.ts'
import { addressKeys } from '../subscriber/address.ts'
import { requireOpenIncident } from '../subscriber/preferences.ts'
import { subscribe } from '../subscriber/subscribe.ts'
import {
  confirmSubscription,
  isConfirmable,
  rotateWebhookSecret,
  subscriberByToken,
  unsubscribe,
  updateSubscription,
} from '../subscriber/subscriber.ts'
import { chosenServiceIds, listFollowedIncidents } from '../subscriber/subscriber-queries.ts'
import { secretsOf } from '../subscriber/token.ts'
import { isWithheld } from '../subscriber/withheld.ts'
import { Manage } from './manage.tsx'
import type { PreferenceProps } from './preferences.tsx'
import { channelIn, SubscribeForm, SubscriptionRequested } from './subscribe.tsx'

/** The style sheet of pages about subscriptions; minified as `subscribe.css`. */
export const subscribeSheet = new URL('src/notification/subscribe.css', root)

/** A form with a thousand selected services has about 40 KiB. */
const MAX_FORM_BYTES = bodyLimits.publicForm.most

/** What the pages need. */
interface Options {
  readonly site: Site
  readonly contextOf: (c: HttpContext) => NotificationContext
}

/**
 * Creates the routes of the pages to subscribe, and, by the link of a message, to confirm, change and end a
 * subscription. The pages need neither login nor scripts.
 */
export function subscriptionPages(options: Options): Hono {
  const app = new Hono()
  addSubscribeForm(app, options)
  addSubscription(app, options)
  return app
}

/** Adds the form that subscribes to a page. */
function addSubscribeForm(app: Hono, options: Options): void {
  const { site, contextOf } = options
  // The second path is for custom domains.
  for (const path of ['/status/:slug/subscribe', '/subscribe']) {
    app.get(path, (c) =>
      answer(c, site, async () => showForm(c, options, await requestedPage(c, contextOf(c), site), null)),
    )

    app.post(path, (c) =>
      answer(c, site, async () => {
        const page = await requestedPage(c, contextOf(c), site)
        const language = languageFor(c, page)
        const words = wordsOf(language)
        if (!isOwnOrigin(nodeRequest(c))) return c.text(words.subscribe.ownOrigin, 403)
        const form = await readFields(nodeRequest(c), MAX_FORM_BYTES)
        try {
          await subscribe(contextOf(c), { slug: page.slug, language, ...addressIn(form), ...wantedIn(form) })
        } catch (error) {
          if (!(error instanceof DomainError)) throw error
          return await showForm(c, options, page, { form, error })
        }
        return respond(c, site, page, words, {
          title: words.subscribe.sentTitle,
          content: <SubscriptionRequested words={words} />,
        })
      }),
    )
  }
}

/** Adds the page of a subscription, and the actions on it. */
function addSubscription(app: Hono, options: Options): void {
  const { site, contextOf } = options

  app.get(`${SUBSCRIPTION_PATH}/:token`, (c) => answer(c, site, () => showSubscription(c, options, null)))

  // Mail programs post to this URL (List-Unsubscribe). Opening it in a browser must not unsubscribe.
  app.get(`${SUBSCRIPTION_PATH}/:token/unsubscribe`, (c) =>
    c.redirect(`${SUBSCRIPTION_PATH}/${encodeURIComponent(c.req.param('token'))}`, 303),
  )

  for (const [path, step] of Object.entries<Step>(steps)) {
    app.post(`${SUBSCRIPTION_PATH}/:token${path}`, (c) =>
      answer(c, site, async () => {
        try {
          await step.do(c, contextOf(c), c.req.param('token') ?? '')
          return await showSubscription(c, options, { done: step.done, problem: null })
        } catch (error) {
          if (!(error instanceof DomainError)) throw error
          // Throws NotFound when the subscription does not exist.
          return await showSubscription(c, options, { done: null, problem: error })
        }
      }),
    )
  }
}

/** An action of a subscriber and its success message. */
interface Step {
  done(words: Catalogue['subscription']): string | null
  do(c: HttpContext, ctx: NotificationContext, token: string): Promise<void>
}

/** The actions of a subscriber, by the end of their path. */
const steps = {
  '': {
    done: ({ saved }) => saved,
    do: async (c, ctx, token) => {
      await updateSubscription(ctx, {
        token,
        ...settingsIn(await readFields(nodeRequest(c), MAX_FORM_BYTES)),
      })
    },
  },
  '/confirm': {
    done: ({ subscribed }) => subscribed,
    do: async (_c, ctx, token) => void (await confirmSubscription(ctx, token)),
  },
  '/unsubscribe': { done: () => null, do: async (_c, ctx, token) => void (await unsubscribe(ctx, token)) },
  '/secret': {
    done: ({ secret }) => secret.rotated,
    do: async (_c, ctx, token) => void (await rotateWebhookSecret(ctx, token)),
  },
} as const satisfies Record<string, Step>

/** Responds in the reader’s language that the subscription does not exist, without revealing anything about a page. */
function respondUnknown(c: HttpContext, site: Site): Response {
  const offered = { offered: allLanguages, byDefault: 'EN' } as const
  const words = wordsOf(preferredLanguage(c.req.header('accept-language'), offered))
  const owner = { name: 'Allclear', url: site.baseUrl, accentColor: '#0d6656', logoUrl: null }
  const content = <p class="lead">{words.subscription.unknown}</p>
  return respondInOwnersFrame(c, site, owner, { title: words.page.notFound, words, content, status: 404 })
}

/** Runs `work`. Responds to NotFound as to an unknown subscription. */
async function answer(c: HttpContext, site: Site, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NotFound) return respondUnknown(c, site)
    // The form is too large.
    if (error instanceof HTTPException) return error.getResponse()
    throw error
  }
}

async function showForm(
  c: HttpContext,
  { site, contextOf }: Options,
  page: Page,
  refused: { readonly form: URLSearchParams; readonly error: DomainError } | null,
): Promise<Response> {
  const ctx = contextOf(c)
  const language = languageFor(c, page)
  const words = wordsOf(language)
  const fields = refused?.form ?? firstChoices(c)
  const content = (
    <SubscribeForm
      words={words}
      name={page.name}
      action={`${c.req.path}?language=${segmentOf(language)}`}
      pageUrl={pageUrl(page, site.baseUrl)}
      site={await siteOf(ctx, site, page, language)}
      isMailEnabled={isMailEnabled(ctx.config)}
      channel={channelIn(fields.get('channel')) ?? 'EMAIL'}
      state={{ fields, problem: refused?.error ?? null }}
      incident={await incidentOf(ctx, page, fields.get('incidentId'), language)}
      services={await servicesOf(ctx, page)}
      namesLang={ownersLang(words, page.defaultLanguage)}
      hasReports={page.publishesReports}
      {...preferencesIn(fields)}
    />
  )
  const retryAt = refused === null ? null : retryTime(refused.error)
  // RFC 9110 §10.2.3 allows a date as well as seconds.
  if (retryAt !== null) c.header('retry-after', retryAt.toUTCString())
  const status = refused === null ? 200 : retryAt === null ? 400 : 429
  return respond(c, site, page, words, { title: words.subscribe.title, content, status })
}

/** Returns what sites can show of a page; null if it is private. */
async function siteOf(ctx: NotificationContext & PageFinder, site: Site, page: Page, language: Language) {
  const [guarded] = await pagesNamed(ctx, { pageId: page.id })
  if (guarded?.kind !== 'PUBLIC') return null
  const url = (path: string) =>
    `${pageUrl(page, site.baseUrl)}${path}${language === page.defaultLanguage ? '' : `?language=${segmentOf(language)}`}`
  return { badge: url('/badge.svg'), statusLine: page.embedOrigins.length === 0 ? null : url('/embed') }
}

async function showSubscription(
  c: HttpContext,
  { site, contextOf }: Options,
  result: { readonly done: Step['done'] | null; readonly problem: DomainError | null } | null,
): Promise<Response> {
  const ctx = contextOf(c)
  const subscriber = await subscriberByToken(ctx, c.req.param('token') ?? '')
  const organization = await readOrganization(ctx, subscriber.organizationId)
  const page = await readPage(ctx.db, 'id', subscriber.pageId ?? organization.pageId)
  if (page === null) throw new NotFound('Subscription not found.')
  const languages = offeredLanguages(page.languages, page.defaultLanguage)
  const language = languageNamed(subscriber.language, languages)
  const words = wordsOf(language)
  const { problem = null, done = null } = result ?? {}
  const withheld = await isWithheld(ctx.db, subscriber.id)
  const content = (
    <Manage
      subscriber={subscriber}
      name={page.name}
      path={`${SUBSCRIPTION_PATH}/${c.req.param('token')}`}
      confirmable={isConfirmable(subscriber, ctx.now())}
      preferences={await preferencesOf(ctx, subscriber, page, words)}
      following={withheld ? [] : await followedTitles(ctx, subscriber.id, language)}
      withheld={withheld}
      words={words}
      secret={secretsOf(ctx.seal, subscriber, ctx.now())[0] ?? null}
      done={done === null ? null : done(words.subscription)}
      problem={problem && problemIn(problem, words)}
      offered={languages.offered}
      language={language}
    />
  )
  return respond(c, site, page, words, {
    title: words.subscription.title,
    content,
    status: problem === null ? 200 : 400,
  })
}

function respond(
  c: HttpContext,
  site: Site,
  page: Page,
  words: Catalogue,
  shown: { readonly title: string; readonly content: Child; readonly status?: ContentfulStatusCode },
): Response {
  const { name, accentColor, logoUrl } = page
  const lang = ownersLang(words, page.defaultLanguage)
  const owner = { name, accentColor, logoUrl: shownLogo(logoUrl), url: pageUrl(page, site.baseUrl), lang }
  return respondInOwnersFrame(c, site, owner, { ...shown, words, sheets: ['subscribe.css'] })
}

/** Returns the language of a form: the one in its path, or the reader’s, if the page offers it. */
function languageFor(c: HttpContext, { languages, defaultLanguage }: Page): Language {
  const offered = offeredLanguages(languages, defaultLanguage)
  const requested = languageOfTag(c.req.query('language'))
  return requested !== null && offered.offered.includes(requested)
    ? requested
    : preferredLanguage(c.req.header('accept-language'), offered)
}

/** Returns why an action was refused. */
function problemIn(error: DomainError, { subscribe, subscription }: Catalogue): string {
  if (error instanceof TierLimitReached) return subscribe.problems.full
  if (error instanceof NotFound) return subscription.expired
  const isTopic = error instanceof Invalid && error.issues.some(({ path }) => path[0] === 'topics')
  return isTopic ? subscribe.needsTopic : subscribe.problems.other
}

/** Reads the page of a form by the slug in its path or by the custom domain. @throws NotFound. */
async function requestedPage(
  c: HttpContext,
  ctx: NotificationContext & PageFinder,
  site: Pick<Site, 'baseUrl'>,
): Promise<Page> {
  const { db } = ctx
  const slug = c.req.param('slug')
  const hosted = slug === undefined ? await pageOnHost(pageLookupOf(ctx), site, hostNameOf(c.req.header('host'))) : null
  const page = hosted
    ? await readPage(db, 'id', hosted.page.pageId)
    : slugText.safeParse(slug).success
      ? await readPage(db, 'slug', slug ?? '')
      : null
  if (!page) throw new NotFound('Status page not found.')
  return page
}

function servicesOf(
  ctx: NotificationContext,
  { organizationId, serviceIds }: Pick<Page, 'organizationId' | 'serviceIds'>,
): Promise<PreferenceProps['services']> {
  return listServices(ctx, organizationId, serviceIds)
}

async function preferencesOf(
  ctx: NotificationContext,
  { id, topics }: Subscriber,
  page: Page,
  words: Catalogue,
): Promise<PreferenceProps> {
  const serviceIds = await chosenServiceIds(ctx, id)
  const services = await servicesOf(ctx, page)
  const namesLang = ownersLang(words, page.defaultLanguage)
  const hasReports = page.publishesReports
  return { services, topics, hasReports, serviceIds, namesLang }
}

/** Returns the titles of the incidents that a subscriber follows, newest first. */
async function followedTitles(ctx: NotificationContext, subscriberId: string, language: Language): Promise<string[]> {
  const found = await listFollowedIncidents(ctx, subscriberId, 20)
  return found.map((incident) => titleIn(incident, language).title)
}

/** Returns when a rate-limited request can be retried; null for other errors. */
function retryTime(error: DomainError): Date | null {
  if (error instanceof RateLimited) return error.retryAt
  return error instanceof LimitExceeded ? error.resetsAt : null
}

/** Returns the address of the selected channel, in the form of the input. */
function addressIn(form: URLSearchParams): Record<string, unknown> {
  const [key] = Object.entries(addressKeys).find(([, kind]) => kind === (form.get('channel') ?? form.get('way'))) ?? []
  const text = (name: string) => form.get(name) ?? ''
  if (key === undefined) return {}
  const telegram = { botToken: text('telegram.botToken'), chatId: text('telegram.chatId') }
  return { [key]: key === 'telegram' ? telegram : text(key) }
}

/** Returns the open incident that a form is about, or null. */
async function incidentOf(ctx: NotificationContext, page: Page, id: string | null, language: Language) {
  if (id === null) return null
  try {
    return { id, title: titleIn(await requireOpenIncident(ctx, page, id), language).title }
  } catch (error) {
    if (error instanceof DomainError) return null
    throw error
  }
}

/** Returns the values that the link to the form presets. Earlier links use `way` for `channel`. */
function firstChoices(c: HttpContext): URLSearchParams {
  const { way, channel = way, incident } = c.req.query()
  const fields = new URLSearchParams([
    ['topics', 'INCIDENTS'],
    ['topics', 'MAINTENANCES'],
    ...(c.req.queries('service') ?? []).map((id): [string, string] => ['serviceIds', id]),
  ])
  if (channel !== undefined) fields.set('channel', channel)
  if (incident !== undefined) fields.set('incidentId', incident)
  return fields
}

/** Returns what a form selects to be notified about. */
function wantedIn(form: URLSearchParams): Record<string, unknown> {
  const incidentId = form.get('incidentId')
  return incidentId === null ? preferencesIn(form) : { incidentId }
}

/** Returns the settings of a form, which the domain validates. */
function settingsIn(form: URLSearchParams): Record<string, unknown> {
  return { ...preferencesIn(form), language: form.get('language') }
}

/** Returns the selected topics and services of a form, which the domain validates. */
function preferencesIn(form: URLSearchParams): { topics: Topic[]; serviceIds: string[] } {
  return { topics: form.getAll('topics') as Topic[], serviceIds: form.getAll('serviceIds') }
}
