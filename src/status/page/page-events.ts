import type { Page } from '../../account/page/page.ts'
import { readPage } from '../../account/page/page.ts'
import type { PageFinder, PageFollower, PageReader } from '../../account/page/page-guard.ts'
import { followWithPass, pageShowing, requirePage } from '../../account/page/page-guard.ts'
import type { Database } from '../../core/context.ts'
import { NotFound } from '../../core/errors.ts'
import { typeOfId } from '../../core/id.ts'
import { isFor } from '../../event-log/audience.ts'
import type { EventLog, Follower, Gap } from '../../event-log/tail.ts'
import { startPosition } from '../../event-log/tail.ts'
import type { Event } from '../../generated/prisma/client.ts'
import { concernsPage } from '../page-scope.ts'

/** Only slugs of this form are looked up in the database. */
const SLUG = /^[a-z0-9-]{1,100}$/

interface Source {
  readonly db: Database
  readonly eventLog: EventLog
}

type FollowContext = Source & PageReader & Pick<PageFinder, 'pageGuard'>

/** Followed pages, by slug, so that their services are known without a statement. */
const followed = new WeakMap<EventLog, Map<string, { page: Page; followers: number }>>()

/**
 * Follows the events of the page at this slug: those that concern one of its services, or every page. Ends when the
 * page is deleted, and when the caller loses access.
 * @param after the cursor to start after; null: only new events.
 * @throws NotFound when the page does not exist.
 * @throws Unauthenticated when it is private to the caller.
 */
export async function followPage(ctx: FollowContext, slug: string, after: string | null): Promise<PageFollower> {
  const pass = SLUG.test(slug) ? await requirePage(ctx, { slug }) : null
  if (!pass) throw new NotFound('Status page not found.')
  return followWithPass(ctx.pageGuard, pass, await followShown(ctx, slug, after))
}

/** Follows the events of an incident that the caller may read, like `followPage`. */
export async function followIncident(ctx: FollowContext, id: string, after: string | null): Promise<PageFollower> {
  const isId = typeOfId(id) === 'Incident'
  const select = { id: true, organizationId: true } as const
  const incident = isId ? await ctx.db.incident.findUnique({ where: { id, visibility: 'PUBLIC' }, select }) : null
  const pass = incident && (await pageShowing(ctx, incident))
  if (!pass) throw new NotFound('Incident not found.')
  const { organizationId } = pass.page
  // Only the organization can see the events before its publication.
  const isShown = ({ subjectId, kind }: Event) => subjectId === id && isFor('page', kind)
  const follower = await ctx.eventLog.follow(organizationId, startPosition(after), isShown)
  return followWithPass(ctx.pageGuard, pass, follower)
}

async function followShown(source: Source, slug: string, after: string | null): Promise<Follower> {
  const { db, eventLog } = source
  const page = SLUG.test(slug) ? await readPage(db, 'slug', slug) : null
  if (!page) throw new NotFound('Status page not found.')
  const entry = enter(eventLog, slug, page)
  const inner = await eventLog
    .follow(page.organizationId, startPosition(after), (event) => isOn(entry.page, event))
    .catch((error: unknown) => {
      leave(eventLog, slug)
      throw error
    })
  let hasEnded = false

  /** Returns an event; null if it ended the page. */
  async function seen(event: Event | Gap): Promise<Event | Gap | null> {
    if (event.kind === 'PAGE_UPDATED') entry.page = (await readPage(db, 'id', page?.id ?? '')) ?? entry.page
    if (event.kind !== 'PAGE_DELETED') return event
    await follower.return()
    return null
  }

  const follower: Follower = {
    get position() {
      return inner.position
    },
    async poll() {
      const event = await inner.poll()
      return event && seen(event)
    },
    async next() {
      const result = await inner.next()
      if (result.done) {
        await follower.return()
        return result
      }
      const value = await seen(result.value)
      return value === null ? { done: true, value: undefined } : { done: false, value }
    },
    async return() {
      if (!hasEnded) leave(eventLog, slug)
      hasEnded = true
      return inner.return()
    },
    [Symbol.asyncIterator]() {
      return follower
    },
  }
  return follower
}

/** Returns the followed page at a slug, as of the events that were read; null: it no longer exists. */
export async function followedPage({ db, eventLog }: Source, slug: string): Promise<Page | null> {
  return followed.get(eventLog)?.get(slug)?.page ?? (await readPage(db, 'slug', slug))
}

/** Returns whether a page shows the change of an event, or ends with it. */
function isOn(page: Page, { kind, subjectId, serviceIds }: Event): boolean {
  if (kind === 'PAGE_UPDATED') return subjectId === page.organizationId || subjectId === page.id
  if (kind === 'PAGE_DELETED') return subjectId === page.id
  return isFor('page', kind) && concernsPage(page, serviceIds)
}

function enter(eventLog: EventLog, slug: string, page: Page) {
  const pages = followed.get(eventLog) ?? new Map<string, { page: Page; followers: number }>()
  followed.set(eventLog, pages)
  const entry = pages.get(slug) ?? { page, followers: 0 }
  pages.set(slug, entry)
  entry.page = page
  entry.followers += 1
  return entry
}

function leave(eventLog: EventLog, slug: string): void {
  const pages = followed.get(eventLog)
  const entry = pages?.get(slug)
  if (entry === undefined) return
  entry.followers -= 1
  if (entry.followers === 0) pages?.delete(slug)
}
