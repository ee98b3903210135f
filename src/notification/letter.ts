import type { Organization } from '../generated/prisma/client.ts'
import type { IncidentImpact, ServiceStatus } from '../generated/prisma/enums.ts'
import { htmlOf } from '../rendering.ts'
import type { Notice } from './notice.ts'

/** Whose page is told of. */
export type PageOf = Pick<Organization, 'name' | 'slug' | 'timeZone' | 'customDomain'>

/** How grave a message is, for colours. */
export type Tone = 'good' | 'planned' | 'minor' | 'major' | 'neutral'

/** What a message says, before a channel gives it its form. Texts are plain, but for `message`. */
export interface Letter {
  /** Whose page, and where it is. */
  readonly page: { readonly name: string; readonly slug: string; readonly url: string }
  /** What it is about, the same for everything that is told of it. */
  readonly topic: string
  /** What is new, in one line. */
  readonly headline: string
  readonly tone: Tone
  /** Names and what they are. */
  readonly facts: readonly (readonly [name: string, value: string])[]
  /** Markdown; it may be empty. */
  readonly message: string
  /** The same in HTML. */
  readonly html: string
  /** Where to go from here. */
  readonly action: { readonly label: string; readonly url: string }
  /** Why somebody gets this. */
  readonly reason: string
  /** The same for programs: a type in dotted words, when it happened, and what it is. */
  readonly event: { readonly type: string; readonly at: Date; readonly data: Readonly<Record<string, unknown>> }
}

/** Where an organization's page is: at its own domain when it has one. `baseUrl` is ours, without a slash at its end. */
export function pageUrl({ slug, customDomain }: Pick<PageOf, 'slug' | 'customDomain'>, baseUrl: string): string {
  return customDomain === null ? `${baseUrl}/status/${slug}` : `${new URL(baseUrl).protocol}//${customDomain}`
}

/** What a notice says to a subscriber. */
export function noticeLetter(notice: Notice, organization: PageOf, baseUrl: string): Letter {
  const url = pageUrl(organization, baseUrl)
  const page = { name: organization.name, slug: organization.slug, url }
  const reason = `You subscribed to the status page of ${organization.name}.`
  const common = { page, topic: notice.title, reason, html: notice.about === 'SERVICE' ? '' : htmlOf(notice) }
  switch (notice.about) {
    case 'INCIDENT': {
      const { step, id, status, impact, message, services, at } = notice
      const own = `${url}/incidents/${id}`
      return {
        ...common,
        headline: `${step === 'CREATED' ? 'New incident, ' : ''}${words(status)}: ${notice.title}`.replace(/^./, upper),
        tone: step === 'RESOLVED' ? 'good' : toneOfImpact[impact],
        facts: [
          ...(step === 'RESOLVED' ? [] : ([['Impact', upperFirst(words(impact))]] as const)),
          ...listed(
            'Services',
            services.map(({ name, status }) => `${name} (${words(status)})`),
          ),
        ],
        message,
        action: { label: 'View the incident', url: own },
        event: {
          type: `incident.${words(step)}`,
          at,
          data: { page, incident: { ...incidentData(notice), url: own } },
        },
      }
    }
    case 'MAINTENANCE': {
      const { step, id, message, startsAt, endsAt, services, at } = notice
      const time = timeIn(organization.timeZone)
      return {
        ...common,
        headline: `Maintenance ${words(step)}: ${notice.title}`,
        tone: step === 'COMPLETED' ? 'good' : 'planned',
        facts: [
          ['From', time(startsAt)],
          ['To', time(endsAt)],
          ...listed(
            'Services',
            services.map(({ name }) => name),
          ),
        ],
        message,
        action: { label: 'View the status page', url },
        event: {
          type: `maintenance.${words(step)}`,
          at,
          data: {
            page,
            maintenance: {
              id,
              title: notice.title,
              status: notice.status,
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
      const { id, title, status, at } = notice
      return {
        ...common,
        headline: `${title}: ${words(status)}`,
        tone: toneOfStatus[status],
        facts: [],
        message: '',
        action: { label: 'View the status page', url },
        event: { type: 'service.status_changed', at, data: { page, service: { id, name: title, status } } },
      }
    }
  }
}

/**
 * What is written to an address that somebody has subscribed: how to confirm that, or, when it is confirmed already, how to
 * change it. Whoever asked is not told which.
 */
export function subscriptionLetter(
  about: { readonly confirmed: boolean; readonly at: Date; readonly url: string },
  organization: PageOf,
  baseUrl: string,
): Letter {
  const { confirmed, at, url } = about
  const { name, slug } = organization
  const page = { name, slug, url: pageUrl(organization, baseUrl) }
  const asked = `Somebody, hopefully you, asked to be told here of what happens on the status page of ${name}.`
  return {
    page,
    topic: confirmed ? 'You are subscribed already' : 'Confirm your subscription',
    headline: confirmed
      ? `You are subscribed to the status of ${name} already`
      : `Confirm: updates on the status of ${name}`,
    tone: 'neutral',
    facts: [],
    // Written by us, and free of marks that the name could bring in: it stands in no markdown.
    message: '',
    html: '',
    action: confirmed ? { label: 'Manage the subscription', url } : { label: 'Confirm the subscription', url },
    reason: confirmed
      ? `${asked} You are already; the link leads to what you have chosen.`
      : `${asked} If it was not you, do nothing: without a confirmation within 48 hours nothing more is sent.`,
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
}: Extract<Notice, { about: 'INCIDENT' }>) {
  return { id, title, status, impact, message, started_at: startedAt.toISOString(), services }
}

/** A fact that lists something; none when there is nothing to list. */
function listed(name: string, values: readonly string[]): readonly (readonly [string, string])[] {
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

/** One of our constants as words: `MAJOR_OUTAGE` as `major outage`. */
const words = (constant: string) => constant.toLowerCase().replaceAll('_', ' ')
const upper = (letter: string) => letter.toUpperCase()
const upperFirst = (text: string) => text.replace(/^./, upper)

/** Moments in the words of a time zone, such as `20 Nov 2026, 14:32 CET`. */
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
