import { logoUrlAt, shownLogo } from '../account/logo.ts'
import type { Page } from '../account/page.ts'
import { htmlOf } from '../core/markdown-rendering.ts'
import type { IncidentImpact, ServiceStatus } from '../generated/prisma/enums.ts'
import type { NotificationPayload } from './payload.ts'

/** The page that a notification is about. */
export type PageOwner = Pick<Page, 'name' | 'slug' | 'timeZone' | 'customDomain' | 'accentColor' | 'logoUrl'>

/** The severity of a message, for colours. */
export type Tone = 'good' | 'planned' | 'minor' | 'major' | 'neutral'

/** The look of a page's mails. */
export interface Look {
  /** The owner's colour, as `#rrggbb`. */
  readonly accentColor: string
  /** The URL of the logo; null: none that mail programs show. */
  readonly logoUrl: string | null
}

/** The text of a message, before a channel formats it. Fields are plain text except `message` and `html`. */
export interface NotificationContent {
  /** The status page. */
  readonly page: { readonly name: string; readonly slug: string; readonly url: string }
  /** How the page looks. */
  readonly look: Look
  /** The subject of a mail, after the name of the page. */
  readonly subject: string
  /** The news in one line. */
  readonly headline: string
  readonly tone: Tone
  /** Labels and values. */
  readonly facts: readonly (readonly [name: string, value: string])[]
  /** Markdown; can be empty. */
  readonly message: string
  /** The message in HTML. */
  readonly html: string
  /** The main link. */
  readonly action: { readonly label: string; readonly url: string }
  /** Why the subscriber receives this. */
  readonly reason: string
  /** The machine-readable form: a dotted type, the time of the event and its data. */
  readonly event: { readonly type: string; readonly at: Date; readonly data: Readonly<Record<string, unknown>> }
}

/** Returns the URL of a page, at its custom domain if it has one. `baseUrl` has no trailing slash. */
export function pageUrl({ slug, customDomain }: Pick<PageOwner, 'slug' | 'customDomain'>, baseUrl: string): string {
  return customDomain === null ? `${baseUrl}/status/${slug}` : `${new URL(baseUrl).protocol}//${customDomain}`
}

/** Renders a payload as the content of a notification. */
export function notificationContent(
  payload: NotificationPayload,
  organization: PageOwner,
  baseUrl: string,
): NotificationContent {
  const url = pageUrl(organization, baseUrl)
  const page = { name: organization.name, slug: organization.slug, url }
  const reason = `You subscribed to the status page of ${organization.name}.`
  const headline = headlineOf(payload)
  const common = {
    page,
    look: lookOf(organization, baseUrl),
    headline,
    subject: headline,
    reason,
    html: payload.about === 'SERVICE' ? '' : htmlOf(payload),
  }
  switch (payload.about) {
    case 'INCIDENT': {
      const { step, id, impact, message, services, at } = payload
      const own = `${url}/incidents/${id}`
      return {
        ...common,
        tone: step === 'RESOLVED' ? 'good' : toneOfImpact[impact],
        facts: [
          ...(step === 'RESOLVED' ? [] : ([['Impact', upperFirst(toWords(impact))]] as const)),
          ...listFact(
            'Services',
            services.map(({ name, status }) => `${name} (${toWords(status)})`),
          ),
        ],
        message,
        action: { label: 'View the incident', url: own },
        event: {
          type: `incident.${toWords(step)}`,
          at,
          data: { page, incident: { ...incidentData(payload), url: own } },
        },
      }
    }
    case 'MAINTENANCE': {
      const { step, id, message, startsAt, endsAt, services, at } = payload
      const time = timeIn(organization.timeZone)
      return {
        ...common,
        tone: step === 'COMPLETED' ? 'good' : 'planned',
        facts: [
          ['From', time(startsAt)],
          ['To', time(endsAt)],
          ...listFact(
            'Services',
            services.map(({ name }) => name),
          ),
        ],
        message,
        action: { label: 'View the status page', url },
        event: {
          type: `maintenance.${toWords(step)}`,
          at,
          data: {
            page,
            maintenance: {
              id,
              title: payload.title,
              status: payload.status,
              message,
              starts_at: startsAt.toISOString(),
              ends_at: endsAt.toISOString(),
              services,
            },
          },
        },
      }
    }
    case 'SERVICE': {
      const { id, title, status, at } = payload
      return {
        ...common,
        tone: toneOfStatus[status],
        facts: [],
        message: '',
        action: { label: 'View the status page', url },
        event: { type: 'service.status_changed', at, data: { page, service: { id, name: title, status } } },
      }
    }
  }
}

/** Returns the news in one line: what it is now, and of what. */
function headlineOf(payload: NotificationPayload): string {
  switch (payload.about) {
    case 'INCIDENT':
      return `${upperFirst(toWords(payload.status))}: ${payload.title}`
    case 'MAINTENANCE':
      return `Maintenance ${toWords(payload.step)}: ${payload.title}`
    case 'SERVICE':
      return `${payload.title}: ${toWords(payload.status)}`
  }
}

/** Mail programs show no SVG. */
function lookOf({ accentColor, logoUrl }: PageOwner, baseUrl: string): Look {
  const url = logoUrlAt(baseUrl, shownLogo(logoUrl))
  return { accentColor, logoUrl: url === null || /\.svg$/i.test(new URL(url).pathname) ? null : url }
}

/**
 * Renders the message to an address that was entered in the form: a link to confirm, or, for a confirmed subscription, a link
 * to its settings. The form itself answers the same in both cases.
 */
export function subscriptionContent(
  about: { readonly confirmed: boolean; readonly at: Date; readonly url: string },
  organization: PageOwner,
  baseUrl: string,
): NotificationContent {
  const { confirmed, at, url } = about
  const { name, slug } = organization
  const page = { name, slug, url: pageUrl(organization, baseUrl) }
  const asked = `You or someone else entered this address on the status page of ${name}.`
  return {
    page,
    look: lookOf(organization, baseUrl),
    subject: confirmed ? 'You are already subscribed' : 'Confirm your subscription',
    headline: confirmed
      ? `You are already subscribed to the status of ${name}`
      : `Confirm: updates on the status of ${name}`,
    tone: 'neutral',
    facts: [],
    // No markdown here, so that markup in the name has no effect.
    message: '',
    html: '',
    action: confirmed ? { label: 'Manage or unsubscribe', url } : { label: 'Confirm your subscription', url },
    reason: confirmed
      ? `${asked} It is already subscribed. The link opens your settings.`
      : `${asked} Confirm within 48 hours to get notified about incidents and maintenance. Not you? Ignore this message.`,
    event: {
      type: confirmed ? 'subscription.confirmed' : 'subscription.confirm',
      at,
      data: { page, [confirmed ? 'manage_url' : 'confirm_url']: url },
    },
  }
}

function incidentData({
  id,
  title,
  status,
  impact,
  message,
  startedAt,
  services,
}: Extract<NotificationPayload, { about: 'INCIDENT' }>) {
  return { id, title, status, impact, message, started_at: startedAt.toISOString(), services }
}

/** Returns a fact with a list of values; none for an empty list. */
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
} as const satisfies Record<ServiceStatus, Tone>

/** Converts a constant to words: `MAJOR_OUTAGE` to `major outage`. */
const toWords = (constant: string) => constant.toLowerCase().replaceAll('_', ' ')
const upperFirst = (text: string) => text.replace(/^./, (first) => first.toUpperCase())

/** Returns a formatter of times in a time zone, such as `20 Nov 2026, 14:32 CET`. */
export function timeIn(timeZone: string): (at: Date) => string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  })
  return (at) => format.format(at)
}
