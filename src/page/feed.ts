import type { PageState } from '../status/page-state.ts'
import type { IncidentStory, MaintenanceStory, Entry as Update } from '../status/story.ts'
import { htmlSaidIn, lastChangeOf, maintenancePath } from './chronicle.ts'
import { urnOf } from './urn.ts'
import { impactWords, incidentWords, maintenanceWords, namesOf } from './view.ts'
import { escapeXml } from './xml.ts'
import type { Zone } from './zone.ts'
import { zoneOf } from './zone.ts'

/** What a feed is written of. */
export interface FeedSource {
  readonly state: PageState
  readonly incidents: readonly IncidentStory[]
  readonly maintenances: readonly MaintenanceStory[]
  /** When each of them last changed, by its id. */
  readonly changes: ReadonlyMap<string, Date>
  /** When the page last changed: the feed's own time while it has no entries. */
  readonly changedAt: Date
  /** The public address of the page, without a slash at its end. */
  readonly url: string
}

interface Entry {
  readonly id: string
  readonly title: string
  readonly link: string
  readonly publishedAt: Date
  readonly updatedAt: Date
  /** HTML that can do no harm. */
  readonly content: string
}

/** The feed in Atom (RFC 4287). An entry is an incident or a maintenance, and grows with its timeline. */
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

function atomEntry({ id, title, link, content, ...times }: Entry): string {
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

/** The same in RSS 2.0 (https://www.rssboard.org/rss-specification). */
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

function rssItem({ id, title, link, publishedAt, updatedAt, content }: Entry): string {
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

/** The entries come with the last changed first. */
function updatedAt({ changedAt }: FeedSource, [newest]: readonly Entry[]): Date {
  return newest?.updatedAt ?? changedAt
}

function entriesOf(source: FeedSource): Entry[] {
  const zone = zoneOf(source.state.organization.timeZone)
  const names = new Map(source.state.services.map(({ id, name }) => [id, name]))
  const told = ({ services, serviceCount }: IncidentStory | MaintenanceStory) =>
    namesOf({ services: services.flatMap(({ serviceId }) => ({ name: names.get(serviceId) ?? '' })), serviceCount })
  const entries = [
    ...source.incidents.map((incident) => incidentEntry(source, incident, told(incident), zone)),
    ...source.maintenances.map((maintenance) => maintenanceEntry(source, maintenance, told(maintenance), zone)),
  ]
  return entries.sort((one, other) => other.updatedAt.getTime() - one.updatedAt.getTime())
}

function incidentEntry({ url, changes }: FeedSource, incident: IncidentStory, services: string, zone: Zone): Entry {
  const { id, title, impact, createdAt } = incident
  const facts = services === '' ? impactWords[impact] : `${impactWords[impact]}. Affected: ${services}`
  const link = `${url}/incidents/${id}`
  const timeline = timelineHtml(incident, link, zone, ({ status }) => incidentWords[status])
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
  maintenance: MaintenanceStory,
  services: string,
  zone: Zone,
): Entry {
  const { id, title, startsAt, endsAt, createdAt } = maintenance
  const span = `From ${zone.time(startsAt)} to ${zone.time(endsAt)}`
  const facts = services === '' ? span : `${span}. Concerns ${services}`
  const link = url + maintenancePath(maintenance, zone)
  const timeline = timelineHtml(maintenance, link, zone, ({ status }) => maintenanceWords[status])
  return {
    id,
    title: `Maintenance: ${title}`,
    link,
    publishedAt: createdAt,
    updatedAt: lastChangeOf(maintenance, changes),
    content: `<p>${escapeXml(facts)}.</p>\n${timeline}`,
  }
}

/** The newest of a timeline, and where the rest is. */
function timelineHtml<S>(
  { updates, updateCount }: { readonly updates: readonly Update<S>[]; readonly updateCount: number },
  link: string,
  zone: Zone,
  wordOf: (update: Update<S>) => string,
): string {
  const whole = updates.filter(({ said }) => said !== null)
  const entries = whole.map((update) => {
    const time = `<time datetime="${update.createdAt.toISOString()}">${escapeXml(zone.time(update.createdAt))}</time>`
    return `<p><strong>${wordOf(update)}</strong>, ${time}</p>\n${htmlSaidIn({ ...update, status: String(update.status) })}`
  })
  const words = whole.length === 0 ? 'Read what was said' : `All ${updateCount} updates`
  const rest = whole.length < updateCount ? [`<p><a href="${escapeXml(link)}">${words}</a></p>`] : []
  return [...entries, ...rest].join('\n')
}
