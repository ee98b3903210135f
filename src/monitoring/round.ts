import { setMaxListeners } from 'node:events'
import type pg from 'pg'
import type { Context } from '../context.ts'
import { giveBack, takeDue } from '../database/lease.ts'
import { within } from '../deadline.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { Metrics } from '../metrics.ts'
import type { LoopState, Repetition } from '../repeat.ts'
import { repeat } from '../repeat.ts'
import { SECOND } from '../time.ts'
import { createConnectivity } from './connectivity.ts'
import type { DueWatch } from './due-watch.ts'
import { readWatches } from './due-watch.ts'
import type { Finding } from './finding.ts'
import { found as finding } from './finding.ts'
import { missed } from './heartbeat.ts'
import type { Recorder } from './recorder.ts'
import { tendWatches } from './tend.ts'
import { ANYWHERE } from './watch.ts'

/** Runs the checks that are due in one region. */
export interface Round {
  /** Looks once for what is due and starts it. Gives in how many milliseconds to look again. */
  look(): Promise<number>
  /** Looks again and again until it is closed. */
  start(): void
  state(): LoopState
  /** Has it look at once, for something may have become due. */
  wake(): void
  /** Resolves once every check that was started has ended and is recorded. */
  idle(): Promise<void>
  /** Takes no more, ends the checks that run, and gives them back: another worker, or the next start, goes on at once. */
  close(): Promise<void>
}

/** Runs the probe of a watch that is no heartbeat. Never rejects; `signal` ends it early. */
export type RunCheck = (watch: DueWatch, signal: AbortSignal) => Promise<Finding>

/** Longer than the longest probe (30 s) and the writing of its result take. When a worker dies, another takes over after it. */
export const LEASE = 40 * SECOND
/** How long a check may take, in milliseconds, before it is ended as one that hangs: longer than the longest probe. */
const LONGEST_CHECK = 35 * SECOND
/** How long one look for checks may take. */
const LONGEST_LOOK = 30 * SECOND
/** Each check that runs takes a socket and some memory. How many are taken with one statement. */
const CONCURRENCY = 1000
const AT_ONCE = 250
/** How soon to look again, in milliseconds: at once while there may be more, soon while there is work at all. */
const EAGER = 10
const BUSY = 50
const LONGEST = SECOND
/** How often the watches as a whole are looked after. */
const TENDING = 10 * SECOND

const watches = { table: 'Watch', dueColumn: 'dueAt' } as const

/** The round of one worker, which looks for work as the system. */
export function createRound(parts: {
  readonly ctx: Context
  readonly pool: Pick<pg.Pool, 'query'>
  readonly recorder: Recorder
  readonly run: RunCheck
  readonly metrics: Metrics
  /** Whether something that is no target is reached; absent: nothing shows that our own network works. */
  readonly works?: () => Promise<boolean>
  /** How many checks run at once at most. */
  readonly concurrency?: number
}): Round {
  const { ctx, pool, recorder, run, metrics, works = async () => false, concurrency = CONCURRENCY } = parts
  const { now, log, config } = ctx
  const ours = Prisma.sql`region IN (${config.REGION}, ${ANYWHERE})`
  const connectivity = createConnectivity({ works, log })
  const running = new Map<string, Promise<void>>()
  const unfinished = new Map<string, Date>()
  const stopping = new AbortController()
  // Each check that runs listens.
  setMaxListeners(0, stopping.signal)
  let tended: number | null = null
  let looking: Repetition | null = null

  async function tend(): Promise<void> {
    if (tended !== null && Math.abs(now().getTime() - tended) < TENDING) return
    await tendWatches(ctx, LEASE)
    tended = now().getTime()
  }

  async function look(): Promise<number> {
    await tend()
    const free = concurrency - running.size
    if (free <= 0) return EAGER
    const limit = Math.min(free, AT_ONCE)
    const { taken, until } = await takeDue(ctx, { ...watches, where: ours, limit, leaseMs: LEASE })
    if (taken.length === 0) return untilNext()
    const read = new Map(
      (
        await readWatches(
          pool,
          taken.map(({ id }) => id),
        )
      ).map((watch) => [watch.id, watch]),
    )
    for (const { id, dueAt } of taken) {
      const watch = read.get(id)
      // Another due time: it was edited or paused since.
      if (watch && watch.dueAt.getTime() === until.getTime()) begin(watch, dueAt)
    }
    return taken.length === limit ? EAGER : BUSY
  }

  async function untilNext(): Promise<number> {
    const where = { region: { in: [config.REGION, ANYWHERE] }, dueAt: { not: null } }
    const next = await ctx.db.watch.findFirst({ where, orderBy: { dueAt: 'asc' }, select: { dueAt: true } })
    if (!next?.dueAt) return LONGEST
    return Math.min(Math.max(next.dueAt.getTime() - now().getTime(), EAGER), LONGEST)
  }

  function begin(watch: DueWatch, dueAt: Date): void {
    // A lease that ran out is still with the check that runs, which will not be recorded: it is not run beside itself.
    if (running.has(watch.id)) return
    metrics.inFlight.set(running.size + 1)
    unfinished.set(watch.id, watch.dueAt)
    const ended = check(watch, dueAt)
      .catch((error: unknown) => log.error({ err: error, watch: watch.id }, 'monitoring: a check failed by itself'))
      .finally(() => {
        running.delete(watch.id)
        metrics.inFlight.set(running.size)
      })
    running.set(watch.id, ended)
  }

  async function check(watch: DueWatch, dueAt: Date): Promise<void> {
    const at = now()
    metrics.lateness.observe(Math.max(0, at.getTime() - dueAt.getTime()) / SECOND)
    const isHeartbeat = watch.monitor.kind === 'HEARTBEAT'
    const found = isHeartbeat ? missed(watch, dueAt, at) : await probe(watch)
    if (stopping.signal.aborted) return
    const wasDown = watch.memory.state === 'DOWN'
    const finding = isHeartbeat ? found : await connectivity.weigh(found, wasDown, performance.now())
    if (stopping.signal.aborted) return
    unfinished.delete(watch.id)
    await recorder.record(watch, { at, finding })
  }

  /** Runs a check, and ends it when it hangs: its watch would never be checked again. */
  async function probe(watch: DueWatch): Promise<Finding> {
    const ending = new AbortController()
    const end = () => ending.abort()
    stopping.signal.addEventListener('abort', end, { once: true })
    try {
      return await within(LONGEST_CHECK, 'A check', run(watch, ending.signal))
    } catch (error) {
      end()
      log.error({ err: error, watch: watch.id }, 'monitoring: a check hangs and is ended')
      return finding('UNKNOWN', 'The check itself did not end, by an error of ours that is logged.')
    } finally {
      stopping.signal.removeEventListener('abort', end)
    }
  }

  return {
    look,
    state: () => looking?.state() ?? 'ok',
    start() {
      looking = repeat(look, {
        retry: LONGEST,
        patience: LONGEST_LOOK,
        // Many things may become due at about the same time.
        leastPause: BUSY,
        log,
        failed: 'monitoring: could not look for checks that are due; trying again',
      })
    },
    wake: () => looking?.wake(),
    async idle() {
      while (running.size > 0) await Promise.all(running.values())
      await recorder.idle()
    },
    async close() {
      stopping.abort()
      await looking?.stop()
      await Promise.all(running.values())
      const left = [...unfinished].map(([id, until]) => ({ id, until }))
      await giveBack(ctx, watches, left).catch((error: unknown) =>
        log.warn({ err: error }, 'monitoring: checks are not given back; they are made when their leases are over'),
      )
    },
  }
}
