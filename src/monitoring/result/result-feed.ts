import type { Logger } from 'pino'
import type { AsyncQueue } from '../../core/concurrency/async-queue.ts'
import { createAsyncQueue } from '../../core/concurrency/async-queue.ts'
import { SECOND } from '../../core/time.ts'
import type { DatabaseHandle } from '../../database/client.ts'
import type { ProbeResult as StoredProbeResult } from '../../generated/prisma/client.ts'
import { noteFollowed, RENEWAL_MS } from './followed-monitors.ts'
import { RESULTS_NOTIFICATION } from './result-store.ts'

/** A feed of new probe results that any process has stored. */
export interface ResultFeed {
  /**
   * Streams the new results of a monitor. A reader that is too slow loses the oldest ones. Does not check whether the
   * caller may read the monitor.
   */
  follow(monitorId: string): AsyncIterableIterator<StoredProbeResult, undefined>
  /** Ends every stream. */
  close(): Promise<void>
}

/** The maximum number of results to buffer per reader. */
const MAX_BUFFERED = 100
/** How old a result may be when it arrives, in milliseconds: a probe that started earlier may be stored later. */
const LOOKBACK_MS = 60 * SECOND
/** The delay before a failed read is retried, in milliseconds. */
const RETRY_DELAY_MS = 0.5 * SECOND

/** A monitor with at least one reader. */
interface FollowedMonitor {
  readonly followers: Set<AsyncQueue<StoredProbeResult>>
  /** The time from which to read results. It advances with the newest delivered result. */
  from: number
  /** The delivered results that a read may return again. */
  readonly delivered: Map<string, number>
  reading: boolean
  /** Whether new results may have arrived since the current read started. */
  mayHaveNew: boolean
}

/**
 * Opens a feed, which listens for new results.
 * @throws when the database cannot listen.
 */
export async function openResultFeed(parts: {
  readonly database: Pick<DatabaseHandle, 'prisma' | 'listen'>
  readonly log: Logger
}): Promise<ResultFeed> {
  const { database, log } = parts
  const monitors = new Map<string, FollowedMonitor>()
  let closed = false

  const stopListening = await database.listen(RESULTS_NOTIFICATION, (payload) => {
    if (monitors.size === 0) return
    for (const id of payload?.split(' ') ?? [...monitors.keys()]) readSoon(id)
  })

  function readSoon(id: string): void {
    const followed = monitors.get(id)
    if (!followed) return
    followed.mayHaveNew = true
    if (!followed.reading) void read(id, followed)
  }

  async function read(id: string, followed: FollowedMonitor): Promise<void> {
    followed.reading = true
    try {
      while (followed.mayHaveNew && monitors.get(id) === followed) {
        followed.mayHaveNew = false
        deliver(followed, await readFrom(database, id, followed.from))
      }
    } catch (error) {
      log.warn({ err: error, monitor: id }, 'monitoring: could not read new results; retrying')
      setTimeout(() => readSoon(id), RETRY_DELAY_MS).unref()
    } finally {
      followed.reading = false
    }
  }

  /** Lets the results of monitors be announced. A monitor that could not be noted is announced after the next renewal. */
  async function note(ids: readonly string[]): Promise<void> {
    await noteFollowed({ db: database.prisma }, ids).catch((error: unknown) =>
      log.warn({ err: error }, 'monitoring: could not note that monitors are followed'),
    )
  }

  const renewal = setInterval(() => {
    if (monitors.size > 0) void note([...monitors.keys()])
  }, RENEWAL_MS).unref()

  /** Skips the results that are already stored: the first reader must not get them. */
  async function skipStored(id: string, followed: FollowedMonitor): Promise<void> {
    followed.reading = true
    try {
      await note([id])
      const newest = await readNewest(database, id)
      for (const result of newest) followed.delivered.set(keyOf(result), result.at.getTime())
      followed.from = (newest[0]?.at.getTime() ?? 0) - LOOKBACK_MS
    } catch (error) {
      log.warn({ err: error, monitor: id }, 'monitoring: could not read results')
    } finally {
      followed.reading = false
      if (followed.mayHaveNew) void read(id, followed)
    }
  }

  return {
    follow(monitorId) {
      if (closed) return endedQueue()
      const followed = monitors.get(monitorId) ?? newFollowedMonitor()
      const isNew = !monitors.has(monitorId)
      monitors.set(monitorId, followed)
      const follower = createAsyncQueue<StoredProbeResult>(() => {
        followed.followers.delete(follower)
        if (followed.followers.size === 0 && monitors.get(monitorId) === followed) monitors.delete(monitorId)
      }, MAX_BUFFERED)
      followed.followers.add(follower)
      if (isNew) void skipStored(monitorId, followed)
      return follower
    },
    async close() {
      closed = true
      clearInterval(renewal)
      for (const { followers } of monitors.values()) for (const follower of followers) follower.end()
      monitors.clear()
      await stopListening()
    },
  }
}

function newFollowedMonitor(): FollowedMonitor {
  return { followers: new Set(), from: 0, delivered: new Map(), reading: false, mayHaveNew: false }
}

/** Reads the results of a monitor that start at `from` or later, oldest first. @param from in epoch milliseconds. */
function readFrom({ prisma }: Pick<DatabaseHandle, 'prisma'>, monitorId: string, from: number) {
  return prisma.probeResult.findMany({
    where: { monitorId, at: { gte: new Date(from) } },
    orderBy: [{ at: 'asc' }, { region: 'asc' }],
    take: 2 * MAX_BUFFERED,
  })
}

/** Reads the newest results of a monitor, newest first. */
function readNewest({ prisma }: Pick<DatabaseHandle, 'prisma'>, monitorId: string) {
  return prisma.probeResult.findMany({ where: { monitorId }, orderBy: { at: 'desc' }, take: MAX_BUFFERED })
}

function deliver(followed: FollowedMonitor, results: readonly StoredProbeResult[]): void {
  for (const result of results) {
    const key = keyOf(result)
    if (followed.delivered.has(key)) continue
    followed.delivered.set(key, result.at.getTime())
    followed.from = Math.max(followed.from, result.at.getTime() - LOOKBACK_MS)
    for (const follower of followed.followers) follower.push(result)
  }
  for (const [key, at] of followed.delivered) if (at < followed.from) followed.delivered.delete(key)
}

const keyOf = ({ at, region }: StoredProbeResult) => `${at.getTime()} ${region}`

function endedQueue(): AsyncQueue<StoredProbeResult> {
  const queue = createAsyncQueue<StoredProbeResult>()
  queue.end()
  return queue
}
