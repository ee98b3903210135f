import type { Logger } from 'pino'
import type { AsyncQueue } from '../core/async-queue.ts'
import { createAsyncQueue } from '../core/async-queue.ts'
import { SECOND } from '../core/time.ts'
import type { DatabaseHandle } from '../database/client.ts'
import type { ProbeResult as StoredProbeResult } from '../generated/prisma/client.ts'
import { RESULTS_CHANNEL } from './result-store.ts'

/** The probe results of monitors, as any process stores them. */
export interface ResultFeed {
  /**
   * Streams the results of a monitor from now on. A reader that is too slow loses the oldest results. Does not check
   * whether the caller may read the monitor.
   */
  follow(monitorId: string): AsyncIterableIterator<StoredProbeResult, undefined>
  /** Ends every stream. */
  close(): Promise<void>
}

/** How many results are buffered for one reader. */
const MAX_BUFFERED = 100
/** How far back results may still arrive, in milliseconds: a probe that began earlier may be stored later. */
const LOOKBACK_MS = 60 * SECOND
/** How soon a failed read is retried, in milliseconds. */
const RETRY_DELAY_MS = 0.5 * SECOND

/** A monitor with at least one reader. */
interface FollowedMonitor {
  readonly followers: Set<AsyncQueue<StoredProbeResult>>
  /** Reads results from this time on; moves with the newest delivered result. */
  from: number
  /** Delivered results that a read may return again. */
  readonly delivered: Map<string, number>
  reading: boolean
  /** Whether there may be new results since the current read began. */
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

  const stopListening = await database.listen(RESULTS_CHANNEL, (payload) => {
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
        const results = await database.prisma.probeResult.findMany({
          where: { monitorId: id, at: { gte: new Date(followed.from) } },
          orderBy: [{ at: 'asc' }, { region: 'asc' }],
          take: 2 * MAX_BUFFERED,
        })
        deliver(followed, results)
      }
    } catch (error) {
      log.warn({ err: error, monitor: id }, 'monitoring: could not read new results; trying again')
      setTimeout(() => readSoon(id), RETRY_DELAY_MS).unref()
    } finally {
      followed.reading = false
    }
  }

  /** Skips the results that are stored already: the first reader does not get them. */
  async function skipStored(id: string, followed: FollowedMonitor): Promise<void> {
    followed.reading = true
    try {
      const newest = await database.prisma.probeResult.findMany({
        where: { monitorId: id },
        orderBy: { at: 'desc' },
        take: MAX_BUFFERED,
      })
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
      const followed = monitors.get(monitorId) ?? {
        followers: new Set(),
        from: 0,
        delivered: new Map(),
        reading: false,
        mayHaveNew: false,
      }
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
      for (const { followers } of monitors.values()) for (const follower of followers) follower.end()
      monitors.clear()
      await stopListening()
    },
  }
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
