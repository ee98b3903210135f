import type { Database } from '../core/context.ts'
import { NotFound } from '../core/errors.ts'
import { isPublicKind } from '../event-log/event.ts'
import type { EventLog, Follower } from '../event-log/tail.ts'
import { startPosition } from '../event-log/tail.ts'

/** Other texts must not reach the database. */
const SLUG = /^[a-z0-9-]{1,100}$/

/**
 * Follows the events that the page at this slug shows.
 * @param after the cursor to start after; null: only new events.
 * @throws NotFound when there is no such page.
 */
export async function followPage(
  { db, eventLog }: { readonly db: Database; readonly eventLog: EventLog },
  slug: string,
  after: string | null,
): Promise<Follower> {
  const page = SLUG.test(slug)
    ? await db.organization.findUnique({ where: { slug, deletedAt: null }, select: { id: true } })
    : null
  if (!page) throw new NotFound('Status page not found.')
  return eventLog.follow(page.id, startPosition(after), ({ kind }) => isPublicKind(kind))
}
