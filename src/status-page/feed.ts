import type { PageState } from '../status/page-state.ts'
import type {
  IncidentWithTimeline,
  MaintenanceWithTimeline,
  TimelineUpdate as Update,
} from '../status/timeline-reader.ts'
import type { Zone } from './time-format.ts'
import { zoneOf } from './time-format.ts'
import { lastChangeOf, maintenancePath, updateHtml } from './timeline-queries.ts'
import { urnOf } from './urn.ts'
import { impactLabels, incidentStatusLabels, joinNames, maintenanceStatusLabels } from './view.ts'
import { escapeXml } from './xml.ts'

/** The input of a feed. */
export interface FeedSource {
  readonly state: PageState
  readonly incidents: readonly IncidentWithTimeline[]
  readonly maintenances: readonly MaintenanceWithTimeline[]
  /** When each incident and maintenance last changed, by id. */
  readonly changes: ReadonlyMap<string, Date>
  /** When the page last changed: the update time of an empty feed. */
  readonly changedAt: Date
  /** The public address of the page, without a slash at its end. */
  readonly url: string
}

interface FeedEntry {
  readonly id: string
  readonly title: string
  readonly link: string
  readonly publishedAt: Date
  readonly updatedAt: Date
  /** Sanitized HTML. */
  readonly content: string
}

/** Writes the feed in Atom (RFC 4287). Each incident and maintenance is one entry that contains its timeline. */
export function atomFeed(source: FeedSource): string {
  const { state, url } = source
  const { id, name } = state.organization
  const entries = entriesOf(source)
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:base="${escapeXml(url)}/">
<id>${urnOf(id)}</id>
<title>${escapeXml(titleOf(source))}</title>
<updated>${updatedAt(source, entries).toISOString()}</updated>
<link rel="alternate" type="text/html" href="${escapeXml(url)}"/>
<link rel="self" type="application/atom+xml" href="${escapeXml(url)}/history.atom"/>
<author><name>${escapeXml(name)}</name></author>
<generator>Allclear</generator>
${entries.map(atomEntry).join('')}</feed>
`
}

function atomEntry({ id, title, link, content, ...times }: FeedEntry): string {
  return `<entry>
<id>${urnOf(id)}</id>
<title>${escapeXml(title)}</title>
<published>${times.publishedAt.toISOString()}</published>
<updated>${times.updatedAt.toISOString()}</updated>
<link rel="alternate" type="text/html" href="${escapeXml(link)}"/>
<content type="html">${escapeXml(content)}</content>
</entry>
`
}

/** Writes the feed in RSS 2.0 (https://www.rssboard.org/rss-specification). */
export function rssFeed(source: FeedSource): string {
  const { url } = source
  const entries = entriesOf(source)
  return `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>${escapeXml(titleOf(source))}</title>
<link>${escapeXml(url)}</link>
<description>${escapeXml(`Incidents and maintenance of ${source.state.organization.name}`)}</description>
<atom:link rel="self" type="application/rss+xml" href="${escapeXml(url)}/history.rss"/>
<lastBuildDate>${updatedAt(source, entries).toUTCString()}</lastBuildDate>
<generator>Allclear</generator>
${entries.map(rssItem).join('')}</channel>
</rss>
`
}

function rssItem({ id, title, link, publishedAt, updatedAt, content }: FeedEntry): string {
  return `<item>
<guid isPermaLink="false">${urnOf(id)}</guid>
<title>${escapeXml(title)}</title>
<link>${escapeXml(link)}</link>
<pubDate>${publishedAt.toUTCString()}</pubDate>
<atom:updated>${updatedAt.toISOString()}</atom:updated>
<description>${escapeXml(content)}</description>
</item>
`
}

const titleOf = ({ state }: FeedSource) => `${state.organization.name} status`

/** Expects the most recently changed entry first. */
function updatedAt({ changedAt }: FeedSource, [newest]: readonly FeedEntry[]): Date {
  return newest?.updatedAt ?? changedAt
}

function entriesOf(source: FeedSource): FeedEntry[] {
  const zone = zoneOf(source.state.organization.timeZone)
  const names = new Map(source.state.services.map(({ id, name }) => [id, name]))
  const joinServices = ({ services, serviceCount }: IncidentWithTimeline | MaintenanceWithTimeline) =>
    joinNames({ services: services.flatMap(({ serviceId }) => ({ name: names.get(serviceId) ?? '' })), serviceCount })
  const entries = [
    ...source.incidents.map((incident) => incidentEntry(source, incident, joinServices(incident), zone)),
    ...source.maintenances.map((maintenance) => maintenanceEntry(source, maintenance, joinServices(maintenance), zone)),
  ]
  return entries.sort((one, other) => other.updatedAt.getTime() - one.updatedAt.getTime())
}

function incidentEntry(
  { url, changes }: FeedSource,
  incident: IncidentWithTimeline,
  services: string,
  zone: Zone,
): FeedEntry {
  const { id, title, impact, createdAt } = incident
  const facts = services === '' ? impactLabels[impact] : `${impactLabels[impact]}. Affected: ${services}`
  const link = `${url}/incidents/${id}`
  const timeline = timelineHtml(incident, link, zone, ({ status }) => incidentStatusLabels[status])
  return {
    id,
    title,
    link,
    publishedAt: createdAt,
    updatedAt: lastChangeOf(incident, changes),
    content: `<p>${escapeXml(facts)}.</p>\n${timeline}`,
  }
}

function maintenanceEntry(
  { url, changes }: FeedSource,
  maintenance: MaintenanceWithTimeline,
  services: string,
  zone: Zone,
): FeedEntry {
  const { id, title, startsAt, endsAt, createdAt } = maintenance
  const span = `From ${zone.time(startsAt)} to ${zone.time(endsAt)}`
  const facts = services === '' ? span : `${span}. Affects: ${services}`
  const link = url + maintenancePath(maintenance, zone)
  const timeline = timelineHtml(maintenance, link, zone, ({ status }) => maintenanceStatusLabels[status])
  return {
    id,
    title: `Maintenance: ${title}`,
    link,
    publishedAt: createdAt,
    updatedAt: lastChangeOf(maintenance, changes),
    content: `<p>${escapeXml(facts)}.</p>\n${timeline}`,
  }
}

/** Renders the newest updates of a timeline, and a link to the others. */
function timelineHtml<S>(
  { updates, updateCount }: { readonly updates: readonly Update<S>[]; readonly updateCount: number },
  link: string,
  zone: Zone,
  labelOf: (update: Update<S>) => string,
): string {
  const shown = updates.filter(({ body }) => body !== null)
  const paragraphs = shown.map((update) => {
    const time = `<time datetime="${update.createdAt.toISOString()}">${escapeXml(zone.time(update.createdAt))}</time>`
    return `<p><strong>${labelOf(update)}</strong>, ${time}</p>\n${updateHtml({ ...update, status: String(update.status) })}`
  })
  const label = shown.length === 0 ? 'Read the updates' : `All ${updateCount} updates`
  const rest = shown.length < updateCount ? [`<p><a href="${escapeXml(link)}">${label}</a></p>`] : []
  return [...paragraphs, ...rest].join('\n')
}
