import type { Database } from '../../core/context.ts'
import { NotFound } from '../../core/errors.ts'
import type { Incident, Maintenance } from '../../generated/prisma/client.ts'
import type { Catalogue, Language } from '../../language/catalogue.ts'
import { wordsOf } from '../../language/catalogue.ts'
import { segmentOf } from '../../language/choice.ts'
import { readPublishedOf } from '../../status/incident/postmortem.ts'
import { seriesTitleIn } from '../../status/maintenance/maintenance-series.ts'
import type { PageState } from '../../status/page/page-state.ts'
import type { TimelineBounds } from '../../status/timeline/timeline-reader.ts'
import { readIncidentTimelines, readMaintenanceTimelines } from '../../status/timeline/timeline-reader.ts'
import { inLanguage } from '../../status/timeline/translations.ts'
import { bounds } from '../bounds.ts'
import { documentLanguage } from '../document-language.ts'
import { readLastChanges } from '../last-changes.ts'
import { readPublishedReport } from '../published-report.ts'
import { publicReportCsv, publicReportJson } from '../report-files.ts'
import type { StateSource } from '../shared-state.ts'
import { readWithState, sharedState, versionOf } from '../shared-state.ts'
import { isInState, readStatuspage, statuspageKinds } from '../statuspage/document.ts'
import { readNewestIncidents, readNewestMaintenances, readSeries } from '../timeline-queries.ts'
import { pageLabel, shortLabel } from '../view.ts'
import { badgeSvg } from './badge.ts'
import { maintenanceCalendar } from './calendar.ts'
import type { FeedSource } from './feed.ts'
import { atomFeed, rssFeed } from './feed.ts'

/** The input of a document: the page's state, and the database for what is not in it. */
interface DocumentSource {
  readonly db: Database
  readonly state: PageState
  /** The public address of the page, without a slash at its end. */
  readonly url: string
  /** The id of the service in the path; empty for other paths. */
  readonly id: string
  readonly words: Catalogue
  readonly language: Language
  /** The requested language, as in addresses of pages; null: none. */
  readonly segment: string | null
}

/** A machine-readable document about a page. */
export interface DocumentKind {
  /** The path after the page's own path. */
  readonly path: string
  readonly type: string
  /** How long caches may serve it without revalidation, in seconds. */
  readonly maxAge: number
  /** Whether the page's state is its only input, so that it reads nothing else. */
  readonly isInState: boolean
  write(source: DocumentSource): string | Promise<string>
}

/** How long proxies may cache a badge, in seconds. */
const BADGE_MAX_AGE_S = 60
const svg = { type: 'image/svg+xml; charset=utf-8', maxAge: BADGE_MAX_AGE_S, isInState: true }

/** All documents of a page. */
export const documentKinds: readonly DocumentKind[] = [
  ...statuspageKinds.map((kind) => ({
    path: kind.path,
    type: 'application/json; charset=utf-8',
    maxAge: 0,
    isInState: isInState(kind),
    write: async ({ db, state, url, language }: DocumentSource) =>
      JSON.stringify(await readStatuspage(db, kind, { state, url, language })),
  })),
  {
    path: '/history.atom',
    type: 'application/atom+xml; charset=utf-8',
    maxAge: 0,
    isInState: false,
    write: async (source) => atomFeed(await readFeedSource(source)),
  },
  {
    path: '/history.rss',
    type: 'application/rss+xml; charset=utf-8',
    maxAge: 0,
    isInState: false,
    write: async (source) => rssFeed(await readFeedSource(source)),
  },
  {
    path: '/maintenance.ics',
    type: 'text/calendar; charset=utf-8',
    maxAge: 0,
    isInState: false,
    async write({ db, state, url, words, language, segment }) {
      const { id } = state.organization
      const newest = await readNewestMaintenances(db, state.scope, bounds.calendar.entries)
      const maintenances = await readMaintenanceTimelines(db, newest, bounds.calendar.timeline, state.scope)
      const series = await readSeries(db, state.scope)
      return maintenanceCalendar({
        state,
        maintenances: maintenances.map((maintenance) => inLanguage(maintenance, language)),
        series: series.map((each) => ({ ...each, title: seriesTitleIn(each, language) })),
        changes: await readLastChanges(db, id, idsOf([...maintenances, ...series])),
        url: withSegment(url, segment),
        words,
      })
    },
  },
  {
    path: '/reports/:id/report.csv',
    type: 'text/csv; charset=utf-8',
    maxAge: 0,
    isInState: false,
    write: async ({ db, state, id }) => publicReportCsv(await readPublishedReport(db, state, id)),
  },
  {
    path: '/reports/:id/report.json',
    type: 'application/json; charset=utf-8',
    maxAge: 0,
    isInState: false,
    write: async ({ db, state, id }) => JSON.stringify(publicReportJson(await readPublishedReport(db, state, id))),
  },
  {
    path: '/badge.svg',
    ...svg,
    write: ({ state, words }) =>
      badgeSvg({
        label: state.organization.name,
        value: pageLabel(state, words),
        status: state.status.shown,
      }),
  },
  {
    path: '/services/:id/badge.svg',
    ...svg,
    write({ state, id, words }) {
      const service = state.services.find((each) => each.id === id)
      if (!service) throw new NotFound('Service not found.')
      return badgeSvg({ label: service.name, value: shortLabel(service, words), status: service.shown })
    },
  },
]

/** A document, and the state that it shows. */
interface WrittenDocument {
  readonly organizationId: string
  readonly language: Language
  readonly offered: null
  readonly stateVersion: string
  readonly body: string
}

/**
 * Writes a document about the page of the organization with this id or slug, as of one position of its log.
 * @throws NotFound when the organization does not exist, or the service is not on its page.
 */
export async function readDocument(
  source: StateSource,
  owner: string,
  kind: DocumentKind,
  { requested, ...address }: Pick<DocumentSource, 'url' | 'id'> & { readonly requested: Language | null },
): Promise<WrittenDocument> {
  const write = async (state: PageState) => {
    const language = documentLanguage(state, requested)
    const segment = requested === language ? segmentOf(language) : null
    return kind.write({ db: source.db, state, words: wordsOf(language), language, segment, ...address })
  }
  const written = (state: PageState, body: string) => ({
    ...{ organizationId: state.organization.id, stateVersion: versionOf(state), body },
    language: documentLanguage(state, requested),
    offered: null,
  })
  if (!kind.isInState) {
    const { state, value } = await readWithState(source, owner, write)
    return written(state, value)
  }
  const state = await sharedState(source, owner)
  return written(state, await write(state))
}

/** Returns whether feeds announce a record. Imported records of the past are not news. */
const isNews = ({ importedAt, ...row }: Incident | Maintenance) => {
  const endedAt = 'resolvedAt' in row ? row.resolvedAt : row.endedAt
  const isOver = endedAt !== null || row.status === 'CANCELLED'
  return importedAt === null || !isOver || (endedAt !== null && endedAt > importedAt)
}

/**
 * Reads the most recently changed incidents and maintenances for a feed: the newest with their timelines, the others
 * without.
 */
async function readFeedSource({ db, state, url, words, language, segment }: DocumentSource): Promise<FeedSource> {
  const { entries, whole, timeline } = bounds.feed
  const { id } = state.organization
  const newestIncidents = (await readNewestIncidents(db, state.scope, entries)).filter(isNews)
  const newestMaintenances = (await readNewestMaintenances(db, state.scope, entries)).filter(isNews)
  const candidates = [...newestIncidents, ...newestMaintenances]
  const changes = await readLastChanges(db, id, idsOf(candidates))
  const changedAt = ({ id, createdAt }: (typeof candidates)[number]) => (changes.get(id) ?? createdAt).getTime()
  const ids = idsOf(candidates.toSorted((one, other) => changedAt(other) - changedAt(one)))
  const readTimelines = async (chosen: readonly string[], bounds: TimelineBounds) => {
    const isChosen = (row: { readonly id: string }) => chosen.includes(row.id)
    return {
      incidents: await readIncidentTimelines(db, newestIncidents.filter(isChosen), bounds, state.scope),
      maintenances: await readMaintenanceTimelines(db, newestMaintenances.filter(isChosen), bounds, state.scope),
    }
  }
  const full = await readTimelines(ids.slice(0, whole), timeline)
  const brief = await readTimelines(ids.slice(whole, entries), { ...timeline, updates: 1, bytes: 0 })
  return {
    state,
    incidents: [...full.incidents, ...brief.incidents].map((incident) => inLanguage(incident, language)),
    maintenances: [...full.maintenances, ...brief.maintenances].map((each) => inLanguage(each, language)),
    postmortems: new Map(
      Array.from(await readPublishedOf(db, idsOf(full.incidents), bounds.feed.postmortems), ([id, read]) => [
        id,
        read?.(language) ?? null,
      ]),
    ),
    changes,
    changedAt: state.changedAt,
    self: { url, query: segment === null ? '' : `?language=${segment}` },
    url: withSegment(url, segment),
    words,
    written: wordsOf(documentLanguage(state, null)),
  }
}

const withSegment = (url: string, segment: string | null) => (segment === null ? url : `${url}/${segment}`)

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)
