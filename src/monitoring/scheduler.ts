import { setMaxListeners } from 'node:events'
import type pg from 'pg'
import type { Context } from '../core/context.ts'
import { withDeadline } from '../core/deadline.ts'
import type { Metrics } from '../core/metrics.ts'
import type { PollLoop } from '../core/poll-loop.ts'
import { startPollLoop } from '../core/poll-loop.ts'
import { SECOND } from '../core/time.ts'
import type { Agenda } from '../database/agenda.ts'
import { earliestOf } from '../database/agenda.ts'
import type { LeasedWorker } from '../database/leased-worker.ts'
import { createLeasedWorker } from '../database/leased-worker.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { createConnectivity } from './connectivity.ts'
import type { DueWatch } from './due-watch.ts'
import { readWatches } from './due-watch.ts'
import { missedHeartbeat } from './heartbeat.ts'
import { heartbeatDue, isLateAt } from './heartbeat-due.ts'
import type { ProbeResult } from './probe-result.ts'
import { probeResult } from './probe-result.ts'
import { reconcileWatches } from './reconcile-watches.ts'
import type { ResultWriter } from './result-writer.ts'
import { ANYWHERE } from './watch.ts'

/** Runs the probe of a watch of any kind but HEARTBEAT. Never rejects; `signal` ends it early. */
export type RunProbe = (watch: DueWatch, signal: AbortSignal) => Promise<ProbeResult>

/**
 * The lease of a watch, in milliseconds: longer than the longest probe (30 s) and storing its result. When a worker
 * dies, another one takes over after it.
 */
export const LEASE_MS = 40 * SECOND
/**
 * When a probe counts as hanging, in milliseconds: longer than the longest probe (30 s) plus the longest wait for rate
 * limits (5 s).
 */
const MAX_PROBE_MS = 36 * SECOND
/** How many probes run at once (each takes a socket and memory), and how many watches one statement claims. */
const MAX_RUNNING = 1000
const MAX_CLAIMED = 250
/** Many watches may become due at about the same time, so wake-ups are merged. */
const pauses = { noRoom: 10, full: 10, partial: 50, soonest: 10, wake: 50 } as const
/** How often watches are reconciled, in milliseconds. */
const RECONCILE_MS = 10 * SECOND

const watches = { table: 'Watch', dueColumn: 'dueAt' } as const

/** Creates the scheduler of one worker, with the rights of the system. */
export function createScheduler(parts: {
  readonly ctx: Context
  readonly pool: Pick<pg.Pool, 'query'>
  readonly resultWriter: ResultWriter
  readonly run: RunProbe
  readonly metrics: Metrics
  /** Whether our own network works, measured on something that is not a target; absent: unknown. */
  readonly isNetworkUp?: () => Promise<boolean>
  /** Wakes the scheduler when a watch is due; absent: it looks every second. */
  readonly agenda?: Agenda
  /** The maximum number of probes running at once. */
  readonly concurrency?: number
}): LeasedWorker {
  const { ctx, pool, resultWriter, run, metrics, isNetworkUp = async () => false, concurrency = MAX_RUNNING } = parts
  const { agenda } = parts
  const { now, log, config } = ctx
  const ours = Prisma.sql`region IN (${config.REGION}, ${ANYWHERE})`
  const connectivity = createConnectivity({ isNetworkUp, log })
  const stopping = new AbortController()
  // Each running probe listens to it.
  setMaxListeners(0, stopping.signal)
  let reconciledAt: number | null = null
  let reconciling: PollLoop | null = null
  const worker = createLeasedWorker<DueWatch>({
    ctx,
    ...watches,
    where: () => ours,
    leaseMs: LEASE_MS,
    maxClaimed: concurrency,
    batch: MAX_CLAIMED,
    prepare: reconcile,
    read: (ids) => readWatches(pool, ids),
    accept(claims) {
      for (const { row, dueAt } of claims) worker.run(row, () => runWatch(row, dueAt))
      observeRunning()
    },
    earliest: earliestDue(config.REGION),
    agenda,
    onEnd: observeRunning,
    pauses,
    name: { room: 'monitoring', rows: 'watches' },
  })

  function observeRunning(): void {
    metrics.inFlight.set(worker.running)
  }

  async function reconcile(): Promise<void> {
    if (reconciledAt !== null && Math.abs(now().getTime() - reconciledAt) < RECONCILE_MS) return
    const isChanged = await reconcileWatches(ctx, LEASE_MS)
    reconciledAt = now().getTime()
    if (isChanged) worker.wake()
  }

  /** Returns false when the scheduler was closed before there was a result. */
  async function runWatch(watch: DueWatch, dueAt: Date): Promise<boolean> {
    const at = now()
    metrics.lateness.observe(Math.max(0, at.getTime() - dueAt.getTime()) / SECOND)
    const isHeartbeat = watch.monitor.kind === 'HEARTBEAT'
    if (isHeartbeat && !isLateAt(watch.schedule, dueAt, watch.startedAt)) return reschedule(watch, at)
    const found = isHeartbeat ? missedHeartbeat(watch, dueAt, at) : await probe(watch)
    if (stopping.signal.aborted) return false
    const wasDown = watch.memory.state === 'DOWN'
    const result = isHeartbeat ? found : await connectivity.assess(found, wasDown, performance.now())
    if (stopping.signal.aborted) return false
    await resultWriter.record(watch, { at, result })
    return true
  }

  /** Sets when a heartbeat is due that is not late yet. */
  async function reschedule({ id, dueAt: leasedUntil, schedule, startedAt }: DueWatch, at: Date): Promise<boolean> {
    const dueAt = heartbeatDue(schedule, { reportedAt: at, startedAt })
    await ctx.db.watch.updateMany({ where: { id, dueAt: leasedUntil }, data: { dueAt } })
    return true
  }

  /** Runs a probe, and ends one that hangs: otherwise its watch would never be probed again. */
  async function probe(watch: DueWatch): Promise<ProbeResult> {
    const ending = new AbortController()
    const end = () => ending.abort()
    stopping.signal.addEventListener('abort', end, { once: true })
    try {
      return await withDeadline(MAX_PROBE_MS, 'A probe', run(watch, ending.signal))
    } catch (error) {
      end()
      log.error({ err: error, watch: watch.id }, 'monitoring: ended a probe that hangs')
      return probeResult('UNKNOWN', 'The probe did not end. This is an internal error, which is logged.')
    } finally {
      stopping.signal.removeEventListener('abort', end)
    }
  }

  return {
    ...worker,
    start() {
      worker.start()
      if (!agenda) return
      const reconcileOnly = () => reconcile().then(() => RECONCILE_MS)
      reconciling = startPollLoop(reconcileOnly, {
        retryMs: RECONCILE_MS,
        log,
        failureMessage: 'monitoring: could not reconcile watches; trying again',
      })
    },
    async idle() {
      await worker.idle()
      await resultWriter.idle()
    },
    // Running probes are aborted.
    async close() {
      stopping.abort()
      await reconciling?.stop()
      await worker.close()
    },
  }
}

/** Selects when the next watch of a region is due. The index is by region. */
function earliestDue(region: string): Prisma.Sql {
  const of = (name: string) => earliestOf('Watch', Prisma.sql`region = ${name}`)
  return Prisma.sql`SELECT least((${of(region)}), (${of(ANYWHERE)}))`
}
