import type { Catalogue } from '../language/catalogue.ts'
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
import { joinNames } from './view.ts'
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
  /** The public address of the page in the feed's language, without a slash at its end. */
  readonly url: string
  readonly words: Catalogue
  /** The address of the page's documents, and the query of this one's. */
  readonly self: { readonly url: string; readonly query: string }
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
  const { state, url, words, self } = source
  const { id, name } = state.organization
  const entries = entriesOf(source)
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${words.tag}" xml:base="${escapeXml(url)}/">
<id>${urnOf(id)}</id>
<title>${escapeXml(titleOf(source))}</title>
<updated>${updatedAt(source, entries).toISOString()}</updated>
<link rel="alternate" type="text/html" href="${escapeXml(url)}"/>
<link rel="self" type="application/atom+xml" href="${escapeXml(self.url)}/history.atom${self.query}"/>
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
  const { state, url, words, self } = source
  const entries = entriesOf(source)
  return `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>${escapeXml(titleOf(source))}</title>
<link>${escapeXml(url)}</link>
<description>${escapeXml(words.feed.description(state.organization.name))}</description>
<language>${words.tag}</language>
<atom:link rel="self" type="application/rss+xml" href="${escapeXml(self.url)}/history.rss${self.query}"/>
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

const titleOf = ({ state, words }: FeedSource) => words.page.feed(state.organization.name)

/** Expects the most recently changed entry first. */
function updatedAt({ changedAt }: FeedSource, [newest]: readonly FeedEntry[]): Date {
  return newest?.updatedAt ?? changedAt
}

function entriesOf(source: FeedSource): FeedEntry[] {
  const zone = zoneOf(source.state.organization.timeZone, source.words)
  const names = new Map(source.state.services.map(({ id, name }) => [id, name]))
  const joinServices = ({ services, serviceCount }: IncidentWithTimeline | MaintenanceWithTimeline) =>
    joinNames(
      { services: services.flatMap(({ serviceId }) => ({ name: names.get(serviceId) ?? '' })), serviceCount },
      source.words,
    )
  const entries = [
    ...source.incidents.map((incident) => incidentEntry(source, incident, joinServices(incident), zone)),
    ...source.maintenances.map((maintenance) => maintenanceEntry(source, maintenance, joinServices(maintenance), zone)),
  ]
  return entries.sort((one, other) => other.updatedAt.getTime() - one.updatedAt.getTime())
}

function incidentEntry(
  { url, changes, words }: FeedSource,
  incident: IncidentWithTimeline,
  services: string,
  zone: Zone,
): FeedEntry {
  const { id, title, impact, createdAt } = incident
  const facts = [words.impact[impact], ...(services === '' ? [] : [words.incident.affected(services)])]
  const link = `${url}/incidents/${id}`
  const timeline = timelineHtml(incident, { link, zone, words }, ({ status }) => words.incidentStatus[status])
  return {
    id,
    title,
    link,
    publishedAt: createdAt,
    updatedAt: lastChangeOf(incident, changes),
    content: `${facts.map((fact) => `<p>${escapeXml(fact)}</p>\n`).join('')}${timeline}`,
  }
}

function maintenanceEntry(
  { url, changes, words }: FeedSource,
  maintenance: MaintenanceWithTimeline,
  services: string,
  zone: Zone,
): FeedEntry {
  const { id, title, startsAt, endsAt, createdAt } = maintenance
  const span = words.maintenance.span(zone.time(startsAt), zone.time(endsAt))
  const facts = [span, ...(services === '' ? [] : [words.incident.affected(services)])]
  const link = url + maintenancePath(maintenance, zone)
  const timeline = timelineHtml(maintenance, { link, zone, words }, ({ status }) => words.maintenanceStatus[status])
  return {
    id,
    title: words.maintenance.titled(title),
    link,
    publishedAt: createdAt,
    updatedAt: lastChangeOf(maintenance, changes),
    content: `${facts.map((fact) => `<p>${escapeXml(fact)}</p>\n`).join('')}${timeline}`,
  }
}

/** Renders the newest updates of a timeline, and a link to the others. */
function timelineHtml<S>(
  { updates, updateCount }: { readonly updates: readonly Update<S>[]; readonly updateCount: number },
  { link, zone, words }: { readonly link: string; readonly zone: Zone; readonly words: Catalogue },
  labelOf: (update: Update<S>) => string,
): string {
  const shown = updates.filter(({ body }) => body !== null)
  const paragraphs = shown.map((update) => {
    const time = `<time datetime="${update.createdAt.toISOString()}">${escapeXml(zone.time(update.createdAt))}</time>`
    return `<p><strong>${escapeXml(labelOf(update))}</strong>, ${time}</p>\n${updateHtml({ ...update, status: String(update.status) }, words)}`
  })
  const label = shown.length === 0 ? words.incident.readUpdates : words.incident.allUpdates(updateCount)
  const rest = shown.length < updateCount ? [`<p><a href="${escapeXml(link)}">${escapeXml(label)}</a></p>`] : []
  return [...paragraphs, ...rest].join('\n')
}
