import type { Database } from '../context.ts'
import { NotFound } from '../errors.ts'
import type { PrismaClient } from '../generated/prisma/client.ts'
import type { PageState } from '../status/page-state.ts'
import { readPageState } from '../status/page-state.ts'
import type { StoryBounds } from '../status/story.ts'
import { readIncidentStories, readMaintenanceStories } from '../status/story.ts'
import { badgeSvg } from './badge.ts'
import { bounds } from './bounds.ts'
import { maintenanceCalendar } from './calendar.ts'
import { readLastChange, readLastChanges } from './changes.ts'
import { readNewestIncidents, readNewestMaintenances } from './chronicle.ts'
import type { FeedSource } from './feed.ts'
import { atomFeed, rssFeed } from './feed.ts'
import { readStatuspage, statuspageKinds } from './statuspage/document.ts'
import { serviceWords } from './view.ts'

/** What a document is written of: the page's state, in the snapshot that it was read in. */
interface Source {
  readonly db: Database
  readonly state: PageState
  /** The public address of the page, without a slash at its end. */
  readonly url: string
  /** Of the service that the path names; empty when it names none. */
  readonly id: string
}

/** A document about a page that programs read, not people. */
export interface DocumentKind {
  /** After the page's own path. */
  readonly path: string
  readonly type: string
  /** How many seconds it may be shown without asking whether it has changed. */
  readonly maxAge: number
  write(source: Source): string | Promise<string>
}

/** How long the proxies in front of other people's pages may keep a badge, in seconds. */
const BADGE_AGE = 60
const svg = { type: 'image/svg+xml; charset=utf-8', maxAge: BADGE_AGE }

/** All of them, by their paths. */
export const documentKinds: readonly DocumentKind[] = [
  ...statuspageKinds.map((kind) => ({
    path: kind.path,
    type: 'application/json; charset=utf-8',
    maxAge: 0,
    write: async ({ db, state, url }: Source) => JSON.stringify(await readStatuspage(db, kind, state, url)),
  })),
  {
    path: '/history.atom',
    type: 'application/atom+xml; charset=utf-8',
    maxAge: 0,
    write: async (source) => atomFeed(await feedOf(source)),
  },
  {
    path: '/history.rss',
    type: 'application/rss+xml; charset=utf-8',
    maxAge: 0,
    write: async (source) => rssFeed(await feedOf(source)),
  },
  {
    path: '/maintenance.ics',
    type: 'text/calendar; charset=utf-8',
    maxAge: 0,
    async write({ db, state, url }) {
      const { id } = state.organization
      const newest = await readNewestMaintenances(db, id, bounds.calendar.entries)
      const maintenances = await readMaintenanceStories(db, newest, bounds.calendar.story)
      return maintenanceCalendar({
        state,
        maintenances,
        changes: await readLastChanges(db, id, idsOf(maintenances)),
        url,
      })
    },
  },
  {
    path: '/badge.svg',
    ...svg,
    write: ({ state: { organization, status } }) =>
      badgeSvg({
        what: organization.name,
        how: status.shown === 'UNKNOWN' ? 'No data' : status.description,
        status: status.shown,
      }),
  },
  {
    path: '/services/:id/badge.svg',
    ...svg,
    write({ state, id }) {
      const service = state.services.find((each) => each.id === id)
      if (!service) throw new NotFound('There is no such service.')
      return badgeSvg({ what: service.name, how: serviceWords[service.shown], status: service.shown })
    },
  },
]

/**
 * Writes a document of the page of the organization with this id or slug, of one snapshot.
 * @throws NotFound when there is no such organization, or no such service on its page.
 */
export function readDocument(
  db: PrismaClient,
  owner: string,
  kind: DocumentKind,
  place: Pick<Source, 'url' | 'id'>,
  now: Date,
): Promise<{ readonly organizationId: string; readonly body: string }> {
  return db.$transaction(
    async (snapshot) => {
      const state = await readPageState(snapshot, owner, now)
      return { organizationId: state.organization.id, body: await kind.write({ db: snapshot, state, ...place }) }
    },
    { isolationLevel: 'RepeatableRead' },
  )
}

/** What changed last, of incidents and maintenances alike: some with what was said, the others without. */
async function feedOf({ db, state, url }: Source): Promise<FeedSource> {
  const { entries, whole, story } = bounds.feed
  const { id } = state.organization
  const newestIncidents = await readNewestIncidents(db, id, entries)
  const newestMaintenances = await readNewestMaintenances(db, id, entries)
  const things = [...newestIncidents, ...newestMaintenances]
  const changes = await readLastChanges(db, id, idsOf(things))
  const changedAt = ({ id, createdAt }: (typeof things)[number]) => (changes.get(id) ?? createdAt).getTime()
  const ids = idsOf(things.toSorted((one, other) => changedAt(other) - changedAt(one)))
  const stories = async (chosen: readonly string[], bounds: StoryBounds) => {
    const isChosen = (thing: { readonly id: string }) => chosen.includes(thing.id)
    return {
      incidents: await readIncidentStories(db, newestIncidents.filter(isChosen), bounds),
      maintenances: await readMaintenanceStories(db, newestMaintenances.filter(isChosen), bounds),
    }
  }
  const told = await stories(ids.slice(0, whole), story)
  const named = await stories(ids.slice(whole, entries), { ...story, updates: 1, bytes: 0 })
  return {
    state,
    incidents: [...told.incidents, ...named.incidents],
    maintenances: [...told.maintenances, ...named.maintenances],
    changes,
    changedAt: await readLastChange(db, id),
    url,
  }
}

const idsOf = (things: readonly { readonly id: string }[]) => things.map(({ id }) => id)
