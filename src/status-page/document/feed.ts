import type { Catalogue } from '../../language/catalogue.ts'
import type { Piece } from '../../language/isolate.ts'
import { isolate, piecesOf } from '../../language/isolate.ts'
import type { PublishedPostmortem } from '../../status/incident/postmortem.ts'
import type { PageState } from '../../status/page/page-state.ts'
import type {
  IncidentWithTimeline,
  MaintenanceWithTimeline,
  TimelineFile,
  TimelineUpdate as Update,
} from '../../status/timeline/timeline-reader.ts'
import type { InLanguage } from '../../status/timeline/translations.ts'
import type { Zone } from '../time-format.ts'
import { zoneOf } from '../time-format.ts'
import { lastChangeOf, maintenancePath, updateHtml } from '../timeline-queries.ts'
import { joinNames } from '../view.ts'
import { escapeXml } from '../xml.ts'
import { urnOf } from './urn.ts'

/** An incident or a maintenance with its texts in the feed's language, where they exist. */
type Shown<T extends { readonly updates: readonly unknown[] }> = T &
  InLanguage & { readonly updates: readonly (T['updates'][number] & InLanguage)[] }

/** The input of a feed. */
export interface FeedSource {
  readonly state: PageState
  readonly incidents: readonly Shown<IncidentWithTimeline>[]
  readonly maintenances: readonly Shown<MaintenanceWithTimeline>[]
  /** The published post-mortems by the id of their incident; null: the feed has no room for it. */
  readonly postmortems: ReadonlyMap<string, PublishedPostmortem | null>
  /** When each incident and maintenance last changed, by id. */
  readonly changes: ReadonlyMap<string, Date>
  /** When the page last changed: the update time of an empty feed. */
  readonly changedAt: Date
  /** The public address of the page in the feed's language, without a slash at its end. */
  readonly url: string
  readonly words: Catalogue
  /** The catalogue of the language in which the owner's untranslated texts are written. */
  readonly written: Catalogue
  /** The address of the page's documents, and the query of this document's. */
  readonly self: { readonly url: string; readonly query: string }
}

interface FeedEntry {
  readonly id: string
  readonly title: string
  /** The language (BCP 47) of the title, if it is not the feed's. */
  readonly titleTag: string | undefined
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

function atomEntry({ id, title, titleTag, link, content, ...times }: FeedEntry): string {
  return `<entry>
<id>${urnOf(id)}</id>
<title${titleTag === undefined ? '' : ` xml:lang="${titleTag}"`}>${escapeXml(title)}</title>
<published>${times.publishedAt.toISOString()}</published>
<updated>${times.updatedAt.toISOString()}</updated>
<link rel="alternate" type="text/html" href="${escapeXml(link)}"/>
<content type="html">${escapeXml(content)}</content>
</entry>
`
}

/**
 * Writes the feed in RSS 2.0 (https://www.rssboard.org/rss-specification). Readers take descriptions for HTML, so texts in
 * them are escaped for HTML and for XML; titles are texts.
 */
export function rssFeed(source: FeedSource): string {
  const { state, url, words, self } = source
  const entries = entriesOf(source)
  return `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>${escapeXml(titleOf(source))}</title>
<link>${escapeXml(url)}</link>
<description>${escapeXml(escapeXml(words.feed.description(state.organization.name)))}</description>
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
      isolate,
    )
  const entries = [
    ...source.incidents.map((incident) => incidentEntry(source, incident, joinServices(incident), zone)),
    ...source.maintenances.map((maintenance) => maintenanceEntry(source, maintenance, joinServices(maintenance), zone)),
  ]
  return entries.sort((one, other) => other.updatedAt.getTime() - one.updatedAt.getTime())
}

function incidentEntry(
  { url, self, changes, words, written, postmortems }: FeedSource,
  incident: Shown<IncidentWithTimeline>,
  services: string,
  zone: Zone,
): FeedEntry {
  const { id, title, impact, createdAt } = incident
  const facts = [words.impact[impact], ...(services === '' ? [] : [words.incident.affected(services)])]
  const link = `${url}/incidents/${id}`
  const tag = tagOf(written, words)
  const context = { link, files: `${self.url}/files`, zone, words, tag }
  const timeline = timelineHtml(incident, context, ({ status }) => words.incidentStatus[status])
  return {
    id,
    title,
    titleTag: incident.isTranslated ? undefined : tag,
    link,
    publishedAt: createdAt,
    updatedAt: lastChangeOf(incident, changes),
    content: factsHtml(facts, tag) + postmortemHtml(postmortems.get(id), context) + timeline,
  }
}

function maintenanceEntry(
  { url, self, changes, words, written }: FeedSource,
  maintenance: Shown<MaintenanceWithTimeline>,
  services: string,
  zone: Zone,
): FeedEntry {
  const { id, title, startsAt, endsAt, createdAt } = maintenance
  const span = words.maintenance.span(zone.time(startsAt), zone.time(endsAt))
  const facts = [span, ...(services === '' ? [] : [words.incident.affected(services)])]
  const link = url + maintenancePath(id)
  const tag = tagOf(written, words)
  const timeline = timelineHtml(
    maintenance,
    { link, files: `${self.url}/files`, zone, words, tag },
    ({ status }) => words.maintenanceStatus[status],
  )
  return {
    id,
    // The title begins with our own text.
    title: words.maintenance.titled(title),
    titleTag: undefined,
    link,
    publishedAt: createdAt,
    updatedAt: lastChangeOf(maintenance, changes),
    content: factsHtml(facts, tag) + timeline,
  }
}

/** Returns the language of the owner's texts, if it is not the feed's. */
const tagOf = (written: Catalogue, words: Catalogue) => (written.tag === words.tag ? undefined : written.tag)

/** Renders sentences in which names have their own direction, and their language if it is not the feed's. */
function factsHtml(facts: readonly string[], tag: string | undefined): string {
  const html = ({ text, isOwners }: Piece) =>
    isOwners ? `<bdi${langOf(tag)}>${escapeXml(text)}</bdi>` : escapeXml(text)
  return facts.map((fact) => `<p>${piecesOf(fact).map(html).join('')}</p>\n`).join('')
}

const langOf = (tag: string | undefined) => (tag === undefined ? '' : ` lang="${tag}"`)

interface TimelineContext {
  readonly link: string
  /** The address under which the files are. */
  readonly files: string
  readonly zone: Zone
  readonly words: Catalogue
  /** As returned by `tagOf`. */
  readonly tag: string | undefined
}

/** Renders the post-mortem of an incident, or (null) a link to it; absent: none. */
function postmortemHtml(
  postmortem: PublishedPostmortem | null | undefined,
  { link, zone, words, tag }: TimelineContext,
): string {
  if (postmortem === undefined) return ''
  const label = escapeXml(words.incident.postmortem)
  if (postmortem === null) return `<p><a href="${escapeXml(link)}#postmortem">${label}</a></p>\n`
  const { html, publishedAt, isTranslated } = postmortem
  const time = `<time datetime="${publishedAt.toISOString()}">${escapeXml(zone.time(publishedAt))}</time>`
  const own = langOf(isTranslated ? undefined : tag)
  return `<p><strong>${label}</strong>, ${time}</p>\n<div${own} dir="auto">${html}</div>\n`
}

/** Renders links to the files of an update. */
function filesHtml({ files = [] }: Pick<Update<unknown>, 'files'>, address: string): string {
  if (files.length === 0) return ''
  const link = ({ id, name, alt }: TimelineFile) =>
    `<li><a href="${escapeXml(`${address}/${id}`)}">${escapeXml(alt || name)}</a></li>`
  return `\n<ul>${files.map(link).join('')}</ul>`
}

/** Renders the newest updates of a timeline, and a link to the others. */
function timelineHtml<S>(
  { updates, updateCount }: { readonly updates: readonly (Update<S> & InLanguage)[]; readonly updateCount: number },
  { link, files, zone, words, tag }: TimelineContext,
  labelOf: (update: Update<S>) => string,
): string {
  const shown = updates.filter(({ body }) => body !== null)
  const paragraphs = shown.map((update) => {
    const time = `<time datetime="${update.createdAt.toISOString()}">${escapeXml(zone.time(update.createdAt))}</time>`
    const text = updateHtml({ ...update, status: String(update.status) }, words)
    const own = update.body ? `<div${langOf(update.isTranslated ? undefined : tag)} dir="auto">${text}</div>` : text
    return `<p><strong>${escapeXml(labelOf(update))}</strong>, ${time}</p>\n${own}${filesHtml(update, files)}`
  })
  const label = shown.length === 0 ? words.incident.readUpdates : words.incident.allUpdates(updateCount)
  const rest = shown.length < updateCount ? [`<p><a href="${escapeXml(link)}">${escapeXml(label)}</a></p>`] : []
  return [...paragraphs, ...rest].join('\n')
}
