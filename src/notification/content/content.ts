import { LRUCache } from 'lru-cache'
import { originOfHost } from '../../account/custom-domain/domain-name.ts'
import { logoUrlAt, shownLogo } from '../../account/page/logo.ts'
import type { Page } from '../../account/page/page.ts'
import { textAsHtml } from '../../core/markdown/markdown.ts'
import { htmlOf } from '../../core/markdown/markdown-rendering.ts'
import { SECOND } from '../../core/time.ts'
import type { IncidentImpact } from '../../generated/prisma/enums.ts'
import type { Catalogue, Language } from '../../language/catalogue.ts'
import { languages, wordsOf } from '../../language/catalogue.ts'
import { isolate, withoutIsolates } from '../../language/isolate.ts'
import type { ShownStatus } from '../../status/service/service-status.ts'
import type { NotificationPayload } from './payload.ts'
import { isAuthored, isWrittenIn, payloadIn } from './payload.ts'

/** The page that a notification is about. */
export type PageOwner = Pick<Page, 'name' | 'slug' | 'timeZone' | 'customDomain' | 'accentColor' | 'logoUrl'>

/** The severity of a message, for colours. */
export type Tone = 'good' | 'planned' | 'minor' | 'major' | 'neutral'

/** The look of a page's emails. */
export interface Look {
  /** The owner's color, as `#rrggbb`. */
  readonly accentColor: string
  /** The URL of the logo; null if mail programs cannot show it. */
  readonly logoUrl: string | null
}

/** The text of a message, before a channel formats it. Fields are plain text except `message` and `html`. */
export interface NotificationContent {
  /** The status page. */
  readonly page: { readonly name: string; readonly slug: string; readonly url: string }
  /** The catalogue of the subscriber’s language, for texts that a channel adds. */
  readonly words: Catalogue
  readonly look: Look
  /** The subject of an email, after the name of the page. */
  readonly subject: string
  /** The change in one line. */
  readonly headline: string
  readonly tone: Tone
  /** Labels and values. */
  readonly facts: readonly (readonly [name: string, value: string])[]
  /** Markdown; can be empty. */
  readonly message: string
  /** The message in HTML. */
  readonly html: string
  /**
   * These fields with the owner’s texts marked (`isolate`), for emails, which show each in its own language and
   * direction.
   */
  readonly isolated?: Pick<NotificationContent, 'headline' | 'facts' | 'reason'>
  /**
   * The languages (BCP 47) of the message, of the owner's text in the headline, and of names, if they differ from the
   * subscriber's.
   */
  readonly messageTag?: string
  readonly titleTag?: string
  readonly namesTag?: string
  /** The main link. */
  readonly action: { readonly label: string; readonly url: string }
  /** Why the subscriber receives this. */
  readonly reason: string
  /** The machine-readable form: a dotted type, the time of the event and its data. */
  readonly event: { readonly type: string; readonly at: Date; readonly data: Readonly<Record<string, unknown>> }
}

/** Content in which the owner's texts in the headline, facts and reason are marked. */
type IsolatedContent = Omit<NotificationContent, 'isolated'>

function withPlainTexts({ headline, subject, facts, reason, ...content }: IsolatedContent): NotificationContent {
  return {
    ...content,
    headline: withoutIsolates(headline),
    subject: withoutIsolates(subject),
    facts: facts.map(([name, value]) => [withoutIsolates(name), withoutIsolates(value)] as const),
    reason: withoutIsolates(reason),
    isolated: { headline, facts, reason },
  }
}

/** Returns the URL of a page, at its custom domain if it has one. `baseUrl` has no trailing slash. */
export function pageUrl({ slug, customDomain }: Pick<PageOwner, 'slug' | 'customDomain'>, baseUrl: string): string {
  return customDomain === null ? `${baseUrl}/status/${slug}` : originOfHost(baseUrl, customDomain)
}

/**
 * Renders a payload as the content of a notification in a language. Its machine-readable form has all languages.
 * @param written the language of texts without a translation.
 */
export function notificationContent(
  original: NotificationPayload,
  organization: PageOwner,
  baseUrl: string,
  language: Language,
  written: Language = language,
): NotificationContent {
  return withPlainTexts(isolatedContent(original, organization, baseUrl, language, written))
}

function isolatedContent(
  original: NotificationPayload,
  organization: PageOwner,
  baseUrl: string,
  language: Language,
  written: Language,
): IsolatedContent {
  const words = wordsOf(language)
  const payload = payloadIn(original, language)
  const page = { name: organization.name, slug: organization.slug, url: pageUrl(organization, baseUrl) }
  const headline = headlineOf(payload, words)
  const common = {
    page,
    words,
    look: lookOf(organization, baseUrl),
    headline,
    subject: headline,
    reason: words.mail.reason(isolate(organization.name)),
    html: isAuthored(payload) ? htmlOf(payload) : '',
    ...(language !== written && tagsOf(original, language, wordsOf(written).tag)),
  }
  const context = { original, words, page, timeZone: organization.timeZone }
  switch (payload.about) {
    case 'INCIDENT':
      return { ...common, ...incidentParts(payload, context) }
    case 'MAINTENANCE':
      return { ...common, ...maintenanceParts(payload, context) }
    case 'SERVICE':
      return { ...common, ...serviceParts(payload, context) }
    case 'REPORT':
      return { ...common, ...reportParts(payload, words, { page, baseUrl }) }
  }
}

/** The parts of a content that depend on what its payload is about. */
type ContentParts = Pick<NotificationContent, 'tone' | 'facts' | 'message' | 'action' | 'event'>

type PayloadAbout<A extends NotificationPayload['about']> = Extract<NotificationPayload, { about: A }>

interface PartContext {
  /** The payload before its translation. */
  readonly original: NotificationPayload
  readonly words: Catalogue
  readonly page: NotificationContent['page']
  readonly timeZone: string
}

function incidentParts(payload: PayloadAbout<'INCIDENT'>, { original, words, page }: PartContext): ContentParts {
  const { mail } = words
  const { step, id, impact, message, services, at } = payload
  const url = `${page.url}/incidents/${id}`
  const files = payload.files?.map((file) => ({ ...file, url: `${page.url}/files/${file.id}` }))
  const isOver = step === 'RESOLVED' || step === 'POSTMORTEM'
  return {
    tone: step === 'RESOLVED' ? 'good' : isOver ? 'neutral' : toneOfImpact[impact],
    facts: [
      ...(isOver ? [] : ([[mail.impact, mail.impacts[impact]]] as const)),
      ...listFact(
        mail.affected,
        services.map(({ name, status }) => mail.service(isolate(name), words.status[status])),
      ),
      ...(files ?? []).map((file) => [isolate(file.name), file.url] as const),
    ],
    message,
    action: { label: mail.viewIncident, url },
    event: {
      type: `incident.${toWords(step)}`,
      at,
      data: { page, incident: { ...incidentData(payload, original), ...(files && { files }), url } },
    },
  }
}

function maintenanceParts(
  payload: PayloadAbout<'MAINTENANCE'>,
  { original, words, page, timeZone }: PartContext,
): ContentParts {
  const { mail } = words
  const { step, id, message, status, startsAt, endsAt, services, at } = payload
  const time = timeIn(timeZone, words)
  const url = `${page.url}/maintenance/${id}`
  return {
    tone: step === 'COMPLETED' ? 'good' : 'planned',
    facts: [
      [mail.from, time(startsAt)],
      [mail.to, time(endsAt)],
      ...listFact(
        mail.affected,
        services.map(({ name }) => isolate(name)),
      ),
    ],
    message,
    action: { label: mail.viewMaintenance, url },
    event: {
      type: `maintenance.${toWords(step)}`,
      at,
      data: {
        page,
        maintenance: {
          id,
          ...textsOf(original),
          status,
          starts_at: startsAt.toISOString(),
          ends_at: endsAt.toISOString(),
          services,
          url,
        },
      },
    },
  }
}

function serviceParts({ id, title, status, at }: PayloadAbout<'SERVICE'>, { words, page }: PartContext): ContentParts {
  return {
    tone: toneOfStatus[status],
    facts: [],
    message: '',
    action: { label: words.mail.viewPage, url: page.url },
    event: { type: 'service.status_changed', at, data: { page, service: { id, name: title, status } } },
  }
}

/** How many services of a report a message shows. */
const MAX_FIGURES = 50

function reportParts(
  payload: PayloadAbout<'REPORT'>,
  { uptime, percent, report, day, duration }: Catalogue,
  { page, baseUrl }: { readonly page: NotificationContent['page']; readonly baseUrl: string },
): ContentParts {
  const { title: month, isPublished, consolePath, services, incidents, recoveryMs, at } = payload
  const url = isPublished ? `${page.url}/reports/${month}` : baseUrl + consolePath
  const rest = services.length - MAX_FIGURES
  const figures = services.slice(0, MAX_FIGURES).map(({ name, percent: value, downMs, maintenanceMs }) => {
    const notes = [
      value === null ? uptime.noData : uptime.measured(percent(value)),
      ...(downMs > 0 ? [uptime.down(downMs)] : []),
      ...(maintenanceMs > 0 ? [uptime.maintenance(maintenanceMs)] : []),
    ]
    return [isolate(name), uptime.listed(notes)] as const
  })
  return {
    tone: 'neutral',
    facts: [
      ...figures,
      ...(rest > 0 ? ([['…', day.more(rest)]] as const) : []),
      [day.incidents, String(incidents)],
      ...(recoveryMs === null ? [] : ([[report.recovery, duration(recoveryMs)]] as const)),
    ],
    message: '',
    action: { label: report.view, url },
    event: {
      type: 'report.created',
      at,
      data: {
        page,
        report: {
          month,
          url,
          services: services.map(({ id, name, percent: value, downMs, maintenanceMs }) => ({
            id,
            name,
            uptime_percent: value,
            down_seconds: Math.floor(downMs / SECOND),
            maintenance_seconds: Math.floor(maintenanceMs / SECOND),
          })),
          incidents,
        },
      },
    },
  }
}

/** Returns the language tags of texts that are not translated. Names never are. */
function tagsOf(original: NotificationPayload, language: Language, tag: string) {
  return {
    namesTag: tag,
    ...(!isWrittenIn(original, language, 'title') && { titleTag: tag }),
    ...(!isWrittenIn(original, language, 'message') && { messageTag: tag }),
  }
}

/** Returns the headline: the new status, and its subject. */
function headlineOf(payload: NotificationPayload, words: Catalogue): string {
  const { mail, incident, incidentStatus, report, date } = words
  const title = isolate(payload.title)
  switch (payload.about) {
    case 'INCIDENT':
      return mail.incident(payload.step === 'POSTMORTEM' ? incident.postmortem : incidentStatus[payload.status], title)
    case 'MAINTENANCE':
      return mail.maintenance[payload.step](title)
    case 'SERVICE':
      return mail.serviceIs(title, serviceStatusOf(payload, words))
    case 'REPORT':
      return report.of(monthIn(payload.title, date))
  }
}

/** Returns the status of a service as its page shows it. */
function serviceStatusOf({ status, basis }: PayloadAbout<'SERVICE'>, words: Catalogue): string {
  if (status === 'UNKNOWN' && basis === 'UNSTATED') return words.noStatusYet
  if (status === 'UNKNOWN' && basis === 'PENDING') return words.firstProbePending
  return words.status[status]
}

/** Formats a month such as 2026-10. */
const monthIn = (month: string, date: Catalogue['date']) =>
  date('UTC', { month: 'long', year: 'numeric' })(new Date(`${month}-01T00:00:00Z`))

/** Returns the look of a page. Leaves out SVG logos, which mail programs do not show. */
function lookOf({ accentColor, logoUrl }: PageOwner, baseUrl: string): Look {
  const url = logoUrlAt(baseUrl, shownLogo(logoUrl))
  return { accentColor, logoUrl: url === null || /\.svg$/i.test(new URL(url).pathname) ? null : url }
}

/**
 * Renders a message that only announces an update, for subscribers who may no longer have access to the page.
 * @param written the catalogue of the language in which the owner writes.
 */
export function withheldContent(
  at: Date,
  organization: PageOwner,
  baseUrl: string,
  words: Catalogue,
  written: Catalogue = words,
): NotificationContent {
  const { mail } = words
  const { name, slug } = organization
  const url = pageUrl(organization, baseUrl)
  const page = { name, slug, url }
  return withPlainTexts({
    page,
    words,
    look: lookOf(organization, baseUrl),
    subject: mail.withheld.headline,
    headline: mail.withheld.headline,
    tone: 'neutral',
    facts: [],
    message: mail.withheld.text,
    html: textAsHtml(mail.withheld.text),
    action: { label: mail.viewPage, url },
    reason: mail.reason(isolate(name)),
    ...(words.tag !== written.tag && { namesTag: written.tag }),
    event: { type: 'page.updated', at, data: { page } },
  })
}

/**
 * Renders the message to an address that was entered in the form: a confirmation link, or, for a confirmed
 * subscription, a link to its settings. The form responds the same in both cases.
 * @param written the catalogue of the language in which the owner writes.
 */
export function subscriptionContent(
  about: { readonly confirmed: boolean; readonly at: Date; readonly url: string },
  organization: PageOwner,
  baseUrl: string,
  words: Catalogue,
  written: Catalogue = words,
): NotificationContent {
  const { confirmed, at, url } = about
  const { name, slug } = organization
  const page = { name, slug, url: pageUrl(organization, baseUrl) }
  const texts = confirmed ? words.mail.confirmed : words.mail.confirm
  return withPlainTexts({
    page,
    words,
    look: lookOf(organization, baseUrl),
    subject: texts.topic,
    headline: texts.headline(isolate(name)),
    tone: 'neutral',
    facts: [],
    // Without Markdown, markup in the name has no effect.
    message: '',
    html: '',
    action: { label: confirmed ? words.mail.manage : words.subscription.confirm, url },
    reason: texts.reason(isolate(name)),
    ...(words.tag !== written.tag && { namesTag: written.tag, titleTag: written.tag }),
    event: {
      type: confirmed ? 'subscription.confirmed' : 'subscription.confirm',
      at,
      data: { page, [confirmed ? 'manage_url' : 'confirm_url']: url },
    },
  })
}

function incidentData(
  { id, status, impact, startedAt, services }: Extract<NotificationPayload, { about: 'INCIDENT' }>,
  original: NotificationPayload,
) {
  return { id, ...textsOf(original), status, impact, started_at: startedAt.toISOString(), services }
}

/** Returns the original title and message, and their translations. */
function textsOf(original: NotificationPayload): Record<string, unknown> {
  if (!isAuthored(original)) return { title: original.title }
  const translations = (original.translations ?? []).map(({ language, title = null, message = null }) => ({
    language: languages.filter((each) => each === language).map((each) => wordsOf(each).tag)[0] ?? language,
    title,
    message,
  }))
  return { title: original.title, message: original.message, ...(translations.length > 0 && { translations }) }
}

/** Returns a fact with a list of values, or nothing for an empty list. */
function listFact(name: string, values: readonly string[]): readonly (readonly [string, string])[] {
  return values.length === 0 ? [] : [[name, values.join(', ')]]
}

const toneOfImpact = { NONE: 'neutral', MINOR: 'minor', MAJOR: 'major', CRITICAL: 'major' } as const satisfies Record<
  IncidentImpact,
  Tone
>

const toneOfStatus = {
  OPERATIONAL: 'good',
  UNDER_MAINTENANCE: 'planned',
  DEGRADED_PERFORMANCE: 'minor',
  PARTIAL_OUTAGE: 'major',
  MAJOR_OUTAGE: 'major',
  UNKNOWN: 'neutral',
} as const satisfies Record<ShownStatus, Tone>

/** Converts a constant to words: `MAJOR_OUTAGE` to `major outage`. */
const toWords = (constant: string) => constant.toLowerCase().replaceAll('_', ' ')

const timeFormats = new LRUCache<string, (at: Date) => string>({ max: 500 })

/**
 * Returns a formatter of times in a time zone, such as `20 Nov 2026, 14:32 CET`. Formatters are slow to create, so they
 * are cached.
 */
export function timeIn(timeZone: string, { tag, date }: Pick<Catalogue, 'tag' | 'date'>): (at: Date) => string {
  const key = `${tag} ${timeZone}`
  const known = timeFormats.get(key)
  if (known !== undefined) return known
  const clock = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const
  const format = date(timeZone, { day: 'numeric', month: 'short', year: 'numeric', ...clock })
  timeFormats.set(key, format)
  return format
}
