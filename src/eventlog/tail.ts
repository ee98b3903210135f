import type { Logger } from 'pino'
import type { DatabaseHandle } from '../database/client.ts'
import type { Event } from '../generated/prisma/client.ts'
import type { Clock } from '../time.ts'
import { SECOND } from '../time.ts'
import { LOG_CHANNEL, positionOf, readAfter } from './event.ts'

/**
 * Stands for events that cannot be given: the position is older than the log keeps, or newer than its last, as after the
 * database was set back. What follows it is complete again from `seq` on, so a reader starts anew from what it sees then.
 */
export interface Gap {
  readonly kind: 'GAP'
  /** The position from which on nothing is missing. */
  readonly seq: number
  readonly at: Date
}

/** A reader of one organization's log, in order, from a position on. One `next` at a time. */
export interface Follower extends AsyncIterableIterator<Event | Gap, undefined> {
  /** Everything up to here has been given or was not wanted; -1 before a gap that comes first. */
  readonly position: number
  /** The next one that stands in the log already; null when there is none, or when it was left. Does not wait for one. */
  take(): Promise<Event | Gap | null>
  /** Leaves at once, also while `next` waits. */
  return(): Promise<IteratorResult<Event | Gap, undefined>>
}

/** The event logs of all organizations, as they grow. */
export interface EventLog {
  /**
   * Follows an organization's log: what stands in it after a position, then what is appended, by whichever process;
   * nothing is missed, doubled or reordered. It ends when the organization is deleted. A reader that is slow only stays behind: nothing is kept for it.
   * @param after the position to begin after; null: only what comes from now on. @param wanted which events to give.
   */
  follow(organizationId: string, after: number | null, wanted?: (event: Event) => boolean): Promise<Follower>
  /** Ends every follower. */
  close(): Promise<void>
}

/** What to follow a log after, by a caller's cursor; null: only what comes from now on. A text that is no cursor stands before all. */
export function startOf(cursor: string | null | undefined): number | null {
  return cursor == null ? null : (positionOf(cursor) ?? NOWHERE)
}

/** A position that no log has: what follows it is a gap. */
const NOWHERE = -1
/** How many of an organization's last events are kept at hand: a reader not further behind costs no query. */
const RECENT = 100
/** How many events are read at once. */
const PAGE = 500
/** How often it is asked, in one statement, how far the logs that are followed have grown, in case the word got lost. */
const POLL = 1.5 * SECOND
/** How long after a failed reading it is tried again. */
const RETRY = 0.5 * SECOND

/** The end of one organization's log, read once for all its followers in this process; it lives as long as they do. */
interface Tail {
  readonly organizationId: string
  readonly opened: Promise<void>
  /** The last events, without gaps. */
  recent: Event[]
  /** The position of the last event that was read. */
  position: number
  followers: number
  /** Called whenever the log has grown. */
  readonly waiting: Set<() => void>
  /** Whether its organization is deleted: whoever follows it is given what stands in it, and then the end. */
  deleted: boolean
  /** Whether it may have grown since the reading under way began. */
  rung: boolean
  reading: boolean
}

/**
 * Follows event logs, woken by the database's notifications.
 * @throws when the database cannot be asked to listen.
 */
export async function openEventLog(parts: {
  readonly database: Pick<DatabaseHandle, 'prisma' | 'listen'>
  readonly now: Clock
  readonly log: Logger
  /** Called with an organization whose log has grown without a word. */
  readonly missed?: (organizationId: string) => void
  /** How often to look for that, in milliseconds. */
  readonly pollMs?: number
}): Promise<EventLog> {
  const { database, now, log, missed = () => {}, pollMs = POLL } = parts
  const db = database.prisma
  const tails = new Map<string, Tail>()
  const followers = new Set<Follower>()

  const stopListening = await database.listen(LOG_CHANNEL, (organizationId) => {
    if (organizationId === null) ringAll()
    else ring(tails.get(organizationId))
  })
  let polling = false
  const poll = setInterval(() => void lookForGrowth(), pollMs).unref()

  /** Bounds how late an event is followed, whatever becomes of the connection that tells of it. */
  async function lookForGrowth(): Promise<void> {
    if (polling || tails.size === 0) return
    polling = true
    try {
      const ids = [...tails.keys()]
      const ends = await db.$queryRaw<{ id: string; lastSeq: number }[]>`
        SELECT id, "lastSeq" FROM "Organization" WHERE id = ANY (${ids}::text[])`
      for (const { id, lastSeq } of ends) {
        const tail = tails.get(id)
        if (!tail || lastSeq <= tail.position || tail.reading) continue
        missed(id)
        ring(tail)
      }
    } catch (error) {
      log.warn({ err: error }, 'event log: could not look for growth; trying again')
    } finally {
      polling = false
    }
  }

  function ringAll(): void {
    for (const tail of tails.values()) ring(tail)
  }

  function ring(tail: Tail | undefined): void {
    if (!tail) return
    tail.rung = true
    if (!tail.reading) void read(tail)
  }

  /** Reads what the log has grown by, until nobody says any more that it has. */
  async function read(tail: Tail): Promise<void> {
    tail.reading = true
    try {
      await tail.opened
      while (tail.rung && tails.get(tail.organizationId) === tail) {
        tail.rung = false
        const events = await readAfter(db, tail.organizationId, tail.position, PAGE)
        if (events.length === PAGE) tail.rung = true
        grow(tail, events)
      }
    } catch (error) {
      if (tails.get(tail.organizationId) === tail) {
        log.warn({ err: error, organization: tail.organizationId }, 'event log: could not read; trying again')
        setTimeout(() => ring(tail), RETRY).unref()
      }
    } finally {
      tail.reading = false
    }
  }

  function tailOf(organizationId: string): Tail {
    const found = tails.get(organizationId)
    if (found) return found
    const tail: Tail = {
      organizationId,
      opened: Promise.resolve().then(async () => {
        tail.recent = await readLast(organizationId)
        tail.position = tail.recent.at(-1)?.seq ?? (await lastSeq(organizationId))
        tail.deleted = isDeleted(tail.recent, false)
      }),
      recent: [],
      position: 0,
      followers: 0,
      waiting: new Set(),
      deleted: false,
      rung: false,
      reading: false,
    }
    tails.set(organizationId, tail)
    return tail
  }

  async function readLast(organizationId: string): Promise<Event[]> {
    const last = await db.event.findMany({ where: { organizationId }, orderBy: { seq: 'desc' }, take: RECENT })
    return last.reverse()
  }

  async function lastSeq(organizationId: string): Promise<number> {
    const organization = await db.organization.findUnique({
      where: { id: organizationId },
      select: { lastSeq: true },
    })
    return organization?.lastSeq ?? 0
  }

  function leave(tail: Tail): void {
    tail.followers -= 1
    if (tail.followers === 0 && tails.get(tail.organizationId) === tail) tails.delete(tail.organizationId)
  }

  return {
    async follow(organizationId, after, wanted = () => true) {
      const tail = tailOf(organizationId)
      tail.followers += 1
      let from: number
      try {
        await tail.opened
        from = after ?? tail.position
        if (from > tail.position) {
          // Another process may have appended what this one has not been told of yet.
          if (from > (await lastSeq(organizationId))) from = NOWHERE
          else ring(tail)
        }
      } catch (error) {
        leave(tail)
        throw error
      }
      const follower = createFollower({
        tail,
        from,
        wanted,
        now,
        read: (position) => readAfter(db, organizationId, position, PAGE),
        onReturn: () => {
          followers.delete(follower)
          leave(tail)
        },
      })
      followers.add(follower)
      return follower
    },
    async close() {
      clearInterval(poll)
      for (const follower of [...followers]) await follower.return()
      await stopListening()
    },
  }
}

function grow(tail: Tail, events: readonly Event[]): void {
  const last = events.at(-1)
  if (!last) return
  const joins = events[0]?.seq === tail.position + 1
  tail.recent = [...(joins ? tail.recent : []), ...events].slice(-RECENT)
  tail.position = last.seq
  tail.deleted = isDeleted(events, tail.deleted)
  for (const wake of [...tail.waiting]) wake()
}

/** Whether an organization is deleted after some events of its log, by whether it was before them. */
function isDeleted(events: readonly Event[], before: boolean): boolean {
  const last = events.findLast(({ kind }) => kind === 'ORGANIZATION_DELETED' || kind === 'ORGANIZATION_RESTORED')
  return last === undefined ? before : last.kind === 'ORGANIZATION_DELETED'
}

function createFollower(parts: {
  readonly tail: Tail
  readonly from: number
  readonly wanted: (event: Event) => boolean
  readonly now: Clock
  readonly read: (position: number) => Promise<Event[]>
  readonly onReturn: () => void
}): Follower {
  const { tail, wanted, now, read, onReturn } = parts
  const done = { done: true, value: undefined } as const
  let position = parts.from
  let page: Event[] = []
  let ended = false
  let wake = () => {}

  /** The event after the position; null when the log does not have it any more. */
  async function following(): Promise<Event | null> {
    const seq = position + 1
    const first = tail.recent[0]
    if (first && seq >= first.seq) {
      page = []
      return tail.recent[seq - first.seq] ?? null
    }
    if (page[0]?.seq !== seq) page = await read(position)
    return page[0]?.seq === seq ? (page.shift() ?? null) : null
  }

  function grown(): Promise<void> {
    return new Promise((resolve) => {
      wake = () => {
        tail.waiting.delete(wake)
        resolve()
      }
      tail.waiting.add(wake)
    })
  }

  /** A loop does not leave what throws. */
  async function leaveAndThrow(error: unknown): Promise<never> {
    await follower.return()
    throw error
  }

  const follower: Follower = {
    get position() {
      return position
    },
    async take() {
      while (!ended && position < tail.position) {
        const event = position === NOWHERE ? null : await following()
        if (ended) break
        if (event === null) {
          position = tail.position
          return { kind: 'GAP', seq: position, at: now() }
        }
        position = event.seq
        if (wanted(event)) return event
      }
      return null
    },
    async next() {
      while (!ended) {
        const value = await follower.take().catch(leaveAndThrow)
        if (value) return { done: false, value }
        if (tail.deleted && position >= tail.position) return follower.return()
        // While that was awaited it may have grown.
        if (!ended && position >= tail.position) await grown()
      }
      return done
    },
    async return() {
      if (ended) return done
      ended = true
      onReturn()
      wake()
      return done
    },
    [Symbol.asyncIterator]() {
      return follower
    },
  }
  return follower
}
