import type { Logger } from 'pino'
import type { DatabaseHandle } from '../database/client.ts'
import type { ProbeResult } from '../generated/prisma/client.ts'
import type { Queue } from '../queue.ts'
import { createQueue } from '../queue.ts'
import { SECOND } from '../time.ts'
import { CHECKS_CHANNEL } from './result-store.ts'

/** The results of monitors, as they are stored, by whichever process. */
export interface Checks {
  /**
   * Follows what is found of a monitor from now on. A reader that is too slow misses the oldest; whether the caller may know
   * of the monitor is not looked at.
   */
  follow(monitorId: string): AsyncIterableIterator<ProbeResult, undefined>
  /** Ends every follower. */
  close(): Promise<void>
}

/** How many results are kept for one reader. */
const KEPT = 100
/** How far back results may still come: a probe that began earlier may be stored later than others. */
const BACK = 60 * SECOND
/** How long after a failed reading it is tried again. */
const RETRY = 0.5 * SECOND

/** A monitor that somebody follows. */
interface Followed {
  readonly followers: Set<Queue<ProbeResult>>
  /** Results from this moment on are wanted; it moves with the newest that was given. */
  from: number
  /** The results that were given, of those that may come again. */
  readonly given: Map<string, number>
  reading: boolean
  /** Whether there may be new results since the reading under way began. */
  rung: boolean
}

/**
 * Listens for new results.
 * @throws when the database cannot be asked to listen.
 */
export async function openChecks(parts: {
  readonly database: Pick<DatabaseHandle, 'prisma' | 'listen'>
  readonly log: Logger
}): Promise<Checks> {
  const { database, log } = parts
  const monitors = new Map<string, Followed>()
  let closed = false

  const stopListening = await database.listen(CHECKS_CHANNEL, (payload) => {
    if (monitors.size === 0) return
    for (const id of payload?.split(' ') ?? [...monitors.keys()]) ring(id)
  })

  function ring(id: string): void {
    const followed = monitors.get(id)
    if (!followed) return
    followed.rung = true
    if (!followed.reading) void read(id, followed)
  }

  async function read(id: string, followed: Followed): Promise<void> {
    followed.reading = true
    try {
      while (followed.rung && monitors.get(id) === followed) {
        followed.rung = false
        const results = await database.prisma.probeResult.findMany({
          where: { monitorId: id, at: { gte: new Date(followed.from) } },
          orderBy: [{ at: 'asc' }, { region: 'asc' }],
          take: 2 * KEPT,
        })
        give(followed, results)
      }
    } catch (error) {
      log.warn({ err: error, monitor: id }, 'monitoring: could not read new results; trying again')
      setTimeout(() => ring(id), RETRY).unref()
    } finally {
      followed.reading = false
    }
  }

  /** The newest result of a monitor that is there already: what its first follower is not given. */
  async function begin(id: string, followed: Followed): Promise<void> {
    followed.reading = true
    try {
      const newest = await database.prisma.probeResult.findMany({
        where: { monitorId: id },
        orderBy: { at: 'desc' },
        take: KEPT,
      })
      for (const result of newest) followed.given.set(keyOf(result), result.at.getTime())
      followed.from = (newest[0]?.at.getTime() ?? 0) - BACK
    } catch (error) {
      log.warn({ err: error, monitor: id }, 'monitoring: could not read results')
    } finally {
      followed.reading = false
      if (followed.rung) void read(id, followed)
    }
  }

  return {
    follow(monitorId) {
      if (closed) return endedQueue()
      const followed = monitors.get(monitorId) ?? {
        followers: new Set(),
        from: 0,
        given: new Map(),
        reading: false,
        rung: false,
      }
      const isNew = !monitors.has(monitorId)
      monitors.set(monitorId, followed)
      const follower = createQueue<ProbeResult>(() => {
        followed.followers.delete(follower)
        if (followed.followers.size === 0 && monitors.get(monitorId) === followed) monitors.delete(monitorId)
      }, KEPT)
      followed.followers.add(follower)
      if (isNew) void begin(monitorId, followed)
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

function give(followed: Followed, results: readonly ProbeResult[]): void {
  for (const result of results) {
    const key = keyOf(result)
    if (followed.given.has(key)) continue
    followed.given.set(key, result.at.getTime())
    followed.from = Math.max(followed.from, result.at.getTime() - BACK)
    for (const follower of followed.followers) follower.push(result)
  }
  for (const [key, at] of followed.given) if (at < followed.from) followed.given.delete(key)
}

const keyOf = ({ at, region }: ProbeResult) => `${at.getTime()} ${region}`

function endedQueue(): Queue<ProbeResult> {
  const queue = createQueue<ProbeResult>()
  queue.end()
  return queue
}
