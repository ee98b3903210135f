import type { Logger } from 'pino'
import { startPollLoop } from '../core/concurrency/poll-loop.ts'
import type { Clock } from '../core/time.ts'
import { SECOND } from '../core/time.ts'
import type { DatabaseHandle } from '../database/client.ts'
import type { Event, PrismaClient } from '../generated/prisma/client.ts'
import { announcedEvents, decodeCursor, listenToLogs, readEventsAfter } from './event.ts'
import { logOwner } from './log-owner.ts'

/**
 * Replaces events that cannot be read: the position is older than the retained log, or newer than its end, as after a
 * restore of the database. A reader that gets a gap reloads its state, because the log is complete only after `seq`.
 */
export interface Gap {
  readonly kind: 'GAP'
  /** The position after which the log is complete. */
  readonly seq: number
  readonly at: Date
}

/** Reads one organization's log in order from a position. Allows one `next` at a time. */
export interface Follower extends AsyncIterableIterator<Event | Gap, undefined> {
  /** The position of the last event that was returned or filtered out; -1: a gap follows. */
  readonly position: number
  /** Returns the next event that is already in the log, without waiting; null: none, or the follower has ended. */
  poll(): Promise<Event | Gap | null>
  /** Ends the follower at once, even while `next` is waiting. */
  return(): Promise<IteratorResult<Event | Gap, undefined>>
}

/** Follows the event logs of all organizations. */
export interface EventLog {
  /**
   * Follows an organization's log: returns the events after a position, then new events from any process, in order and
   * without gaps or duplicates. Ends when the organization is deleted. A slow reader falls behind, because nothing is
   * buffered for it.
   * @param after the position to start after; null: only new events.
   * @param wanted the filter for events.
   */
  follow(organizationId: string, after: number | null, wanted?: (event: Event) => boolean): Promise<Follower>
  /** Ends every follower. */
  close(): Promise<void>
}

/** Returns the position from which to follow a log; null: only new events. For an invalid cursor, a gap comes first. */
export function startPosition(cursor: string | null | undefined): number | null {
  return cursor == null ? null : (decodeCursor(cursor) ?? BEFORE_START)
}

/** A position that no log has. A follower that starts there gets a gap first. */
const BEFORE_START = -1
/** The number of newest events of a log that are kept in memory. Reading them needs no query. */
const RECENT_EVENTS = 100
/** The maximum number of events per query. */
const PAGE_SIZE = 500
/** The interval at which one statement checks all followed logs for growth, in case a notification was lost. */
const POLL_INTERVAL_MS = 1.5 * SECOND
/** The delay before a failed read is retried. */
const RETRY_DELAY_MS = 0.5 * SECOND

/**
 * The end of an organization's log, read once for all its followers in this process. The last one to leave drops it.
 */
interface Tail {
  readonly organizationId: string
  readonly ready: Promise<void>
  /** Whether `ready` has resolved. */
  isReady: boolean
  /** The newest events, without gaps. */
  recent: Event[]
  /** The position of the last event that was read. */
  position: number
  followerCount: number
  /** Called when the log grows. */
  readonly waiters: Set<() => void>
  /** Whether the organization is deleted: followers read the remaining events and end. */
  isDeleted: boolean
  /** Whether the log may have grown since the current read started. */
  isDirty: boolean
  isReading: boolean
}

/**
 * Opens the event logs. Notifications of the database wake the followers.
 * @throws when listening to the database fails.
 */
export async function openEventLog(parts: {
  readonly database: Pick<DatabaseHandle, 'prisma' | 'listen'>
  readonly now: Clock
  readonly log: Logger
  /** Called with an organization whose log grew without a notification. */
  readonly onMissed?: (organizationId: string) => void
  /** How often to check for lost notifications. */
  readonly pollMs?: number
}): Promise<EventLog> {
  const { database, now, log, onMissed = () => {}, pollMs = POLL_INTERVAL_MS } = parts
  const db = database.prisma
  const tails = createTails(db, log)
  const followers = new Set<Follower>()
  const stopListening = await listenToLogs(database, (organizationId, announcement) => {
    if (organizationId === null) tails.readAll()
    else tails.grow(organizationId, announcement)
  })
  const loop = startPollLoop(
    async () => {
      await tails.checkForGrowth(onMissed)
      return pollMs
    },
    { retryMs: pollMs, log, failureMessage: 'event log: could not check for new events; retrying' },
  )

  return {
    async follow(organizationId, after, wanted = () => true) {
      const { tail, from } = await tails.join(organizationId, after)
      const follower = createFollower({
        tail,
        from,
        wanted,
        now,
        read: (position) => readEventsAfter(db, organizationId, position, PAGE_SIZE),
        onReturn: () => {
          followers.delete(follower)
          tails.leave(tail)
        },
      })
      followers.add(follower)
      return follower
    },
    async close() {
      for (const follower of [...followers]) await follower.return()
      await loop.stop()
      await stopListening()
    },
  }
}

/** The tails of the followed logs. */
interface Tails {
  /**
   * Adds a follower to the tail of a log. Returns the tail and the position to start after: `after`, or a position
   * before the log if `after` is beyond its end.
   */
  join(organizationId: string, after: number | null): Promise<{ readonly tail: Tail; readonly from: number }>
  /** Removes a follower. Drops the tail with the last one. */
  leave(tail: Tail): void
  /** Appends the events in a notification if they are the next ones. Otherwise reads the log. */
  grow(organizationId: string, announcement: string | null): void
  /** Reads the new events of every log. */
  readAll(): void
  /** Reads the logs that have grown without a notification. Limits the delay when notifications are lost. */
  checkForGrowth(onMissed: (organizationId: string) => void): Promise<void>
}

function createTails(db: PrismaClient, log: Logger): Tails {
  const tails = new Map<string, Tail>()

  function scheduleRead(tail: Tail): void {
    tail.isDirty = true
    if (!tail.isReading) void read(tail)
  }

  /** Reads new events until no more are announced. */
  async function read(tail: Tail): Promise<void> {
    tail.isReading = true
    try {
      await tail.ready
      while (tail.isDirty && tails.get(tail.organizationId) === tail) {
        tail.isDirty = false
        const events = await readEventsAfter(db, tail.organizationId, tail.position, PAGE_SIZE)
        if (events.length === PAGE_SIZE) tail.isDirty = true
        appendToTail(tail, events)
      }
    } catch (error) {
      if (tails.get(tail.organizationId) === tail) {
        log.warn({ err: error, organization: tail.organizationId }, 'event log: could not read new events; retrying')
        setTimeout(() => scheduleRead(tail), RETRY_DELAY_MS).unref()
      }
    } finally {
      tail.isReading = false
    }
  }

  function leave(tail: Tail): void {
    tail.followerCount -= 1
    if (tail.followerCount === 0 && tails.get(tail.organizationId) === tail) tails.delete(tail.organizationId)
  }

  return {
    async join(organizationId, after) {
      const tail = tails.get(organizationId) ?? createTail(db, organizationId)
      tails.set(organizationId, tail)
      tail.followerCount += 1
      try {
        await tail.ready
        const from = after ?? tail.position
        if (from <= tail.position) return { tail, from }
        // Another process may have appended events that this one has not read yet.
        if (from > (await lastSeq(db, organizationId))) return { tail, from: BEFORE_START }
        scheduleRead(tail)
        return { tail, from }
      } catch (error) {
        leave(tail)
        throw error
      }
    },
    leave,
    grow(organizationId, announcement) {
      const tail = tails.get(organizationId)
      if (!tail) return
      const events = tail.isReading || !tail.isReady ? [] : announcedEvents(announcement)
      if (events[0]?.seq === tail.position + 1) appendToTail(tail, events)
      else scheduleRead(tail)
    },
    readAll() {
      for (const tail of tails.values()) scheduleRead(tail)
    },
    async checkForGrowth(onMissed) {
      if (tails.size === 0) return
      for (const { id, lastSeq: end } of await readEnds(db, [...tails.keys()])) {
        const tail = tails.get(id)
        if (!tail || end <= tail.position || tail.isReading) continue
        onMissed(id)
        scheduleRead(tail)
      }
    },
  }
}

/** Creates the tail of a log, and starts to read it. */
function createTail(db: PrismaClient, organizationId: string): Tail {
  const tail: Tail = {
    organizationId,
    ready: Promise.resolve().then(async () => {
      tail.recent = await readLast(db, organizationId)
      tail.position = tail.recent.at(-1)?.seq ?? (await lastSeq(db, organizationId))
      tail.isDeleted = isDeletedAfter(tail.recent, false)
      tail.isReady = true
    }),
    isReady: false,
    recent: [],
    position: 0,
    followerCount: 0,
    waiters: new Set(),
    isDeleted: false,
    isDirty: false,
    isReading: false,
  }
  return tail
}

async function readLast(db: PrismaClient, organizationId: string): Promise<Event[]> {
  const last = await db.event.findMany({ where: { organizationId }, orderBy: { seq: 'desc' }, take: RECENT_EVENTS })
  return last.reverse()
}

async function lastSeq(db: PrismaClient, organizationId: string): Promise<number> {
  const [end] = await readEnds(db, [organizationId])
  return end?.lastSeq ?? 0
}

/** Returns the positions of the ends of logs. */
function readEnds(db: PrismaClient, ids: readonly string[]): Promise<{ id: string; lastSeq: number }[]> {
  return db.$queryRaw`SELECT id, "lastSeq" FROM ${logOwner.get().ends} WHERE id = ANY (${[...ids]}::text[])`
}

function appendToTail(tail: Tail, events: readonly Event[]): void {
  const last = events.at(-1)
  if (!last) return
  const joins = events[0]?.seq === tail.position + 1
  tail.recent = [...(joins ? tail.recent : []), ...events].slice(-RECENT_EVENTS)
  tail.position = last.seq
  tail.isDeleted = isDeletedAfter(events, tail.isDeleted)
  for (const wake of [...tail.waiters]) wake()
}

/**
 * Returns whether an organization is deleted after some events of its log.
 * @param before whether it was deleted before them.
 */
function isDeletedAfter(events: readonly Event[], before: boolean): boolean {
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
  let hasEnded = false
  let wake = () => {}

  /** Returns the event after the current position; null: the log no longer has it. */
  async function nextEvent(): Promise<Event | null> {
    const seq = position + 1
    const first = tail.recent[0]
    if (first && seq >= first.seq) {
      page = []
      return tail.recent[seq - first.seq] ?? null
    }
    if (page[0]?.seq !== seq) page = await read(position)
    return page[0]?.seq === seq ? (page.shift() ?? null) : null
  }

  function nextGrowth(): Promise<void> {
    return new Promise((resolve) => {
      wake = () => {
        tail.waiters.delete(wake)
        resolve()
      }
      tail.waiters.add(wake)
    })
  }

  /** Ends the follower and throws. A `for await` loop does not call `return` after an error. */
  async function returnAndThrow(error: unknown): Promise<never> {
    await follower.return()
    throw error
  }

  const follower: Follower = {
    get position() {
      return position
    },
    async poll() {
      while (!hasEnded && position < tail.position) {
        const event = position === BEFORE_START ? null : await nextEvent()
        if (hasEnded) break
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
      while (!hasEnded) {
        const value = await follower.poll().catch(returnAndThrow)
        if (value) return { done: false, value }
        if (tail.isDeleted && position >= tail.position) return follower.return()
        // The log may have grown during the await.
        if (!hasEnded && position >= tail.position) await nextGrowth()
      }
      return done
    },
    async return() {
      if (hasEnded) return done
      hasEnded = true
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
