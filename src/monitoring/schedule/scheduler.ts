import { setMaxListeners } from 'node:events'
import type pg from 'pg'
import { withDeadline } from '../../core/concurrency/deadline.ts'
import type { PollLoop } from '../../core/concurrency/poll-loop.ts'
import { startPollLoop } from '../../core/concurrency/poll-loop.ts'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Context } from '../../core/context.ts'
import type { Metrics } from '../../core/telemetry/metrics.ts'
import { SECOND } from '../../core/time.ts'
import type { Agenda } from '../../database/lease/agenda.ts'
import { earliestOf } from '../../database/lease/agenda.ts'
import type { LeasedWorker } from '../../database/lease/leased-worker.ts'
import { createLeasedWorker } from '../../database/lease/leased-worker.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { missedHeartbeat } from '../heartbeat/heartbeat.ts'
import type { ProbeResult } from '../result/probe-result.ts'
import { probeResult } from '../result/probe-result.ts'
import type { ResultWriter } from '../result/result-writer.ts'
import type { DueWatch } from '../watch/due-watch.ts'
import { claimWatches } from '../watch/due-watch.ts'
import { expectedFrom, heartbeatDue, isLateAt } from '../watch/heartbeat-due.ts'
import { ANYWHERE } from '../watch/live-region.ts'
import type { Reception } from '../watch/reception.ts'
import { receivedWithin } from '../watch/reception.ts'
import { createConnectivity } from './connectivity.ts'
import { reconcileWatches } from './reconcile-watches.ts'

/** Runs the probe of a watch of any kind except HEARTBEAT. Never rejects. `signal` ends the probe early. */
export type RunProbe = (watch: DueWatch, signal: AbortSignal) => Promise<ProbeResult>

/**
 * The lease of a watch, in milliseconds. It is longer than the longest probe (30 s) and storing its result. If a worker
 * dies, another one takes over after the lease.
 */
export const LEASE_MS = 40 * SECOND
/**
 * The time after which a probe counts as hanging, in milliseconds: longer than the longest probe (30 s) plus the
 * longest wait for rate limits (5 s).
 */
const MAX_PROBE_MS = 36 * SECOND
/** The maximum number of concurrent probes, each of which takes a socket and memory, and of watches per claim. */
const MAX_RUNNING = 1000
const MAX_CLAIMED = 250
/** The pauses between polls. Wake-ups are merged, because many watches may become due at about the same time. */
const pauses = { noRoom: 10, full: 10, partial: 50, soonest: 10, wake: 50 } as const
/** The interval at which watches are reconciled, in milliseconds. */
const RECONCILE_MS = 10 * SECOND

const watches = { table: 'Watch', dueColumn: 'dueAt' } as const

/** The dependencies of a scheduler. */
interface SchedulerParts {
  readonly ctx: Context
  readonly pool: Pick<pg.Pool, 'query'>
  readonly resultWriter: ResultWriter
  readonly run: RunProbe
  readonly metrics: Metrics
  /** The reception of heartbeats in this process; absent: it receives none. */
  readonly reception?: Pick<Reception, 'flush'>
  /** Checks our own network with a host that is not a target; absent: a check always fails. */
  readonly isNetworkUp?: () => Promise<boolean>
  /** Wakes the scheduler when a watch is due; absent: it polls every second. */
  readonly agenda?: Agenda
  /** The maximum number of concurrent probes. */
  readonly concurrency?: number
}

/** Creates the scheduler of one worker. */
export function createScheduler(parts: SchedulerParts): LeasedWorker {
  const { ctx, pool, resultWriter, metrics, agenda, concurrency = MAX_RUNNING } = parts
  const { now, log, config } = ctx
  const stopping = new AbortController()
  const runWatch = createWatchRunner(parts, stopping.signal)
  let reconciledAt: number | null = null
  let reconciling: PollLoop | null = null
  const worker = createLeasedWorker<DueWatch>({
    ctx,
    ...watches,
    ownerOf: ({ monitor }) => monitor.organizationId,
    claimRows: ({ full, ...claim }) =>
      claimWatches(pool, {
        ...watches,
        ...claim,
        partColumn: 'region',
        parts: [...new Set([config.REGION, ANYWHERE])],
        where: full.length === 0 ? undefined : notMonitoredBy(full),
      }),
    leaseMs: LEASE_MS,
    maxClaimed: concurrency,
    batch: MAX_CLAIMED,
    prepare: reconcile,
    accept(claims) {
      for (const { row, dueAt } of claims) worker.run(row, () => runInTurn(row, dueAt))
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

  /** Starts a probe when it is its turn, because starting hundreds at once would block the event loop. */
  async function runInTurn(watch: DueWatch, dueAt: Date): Promise<boolean> {
    await yieldAfterTimeSlice(worker)
    return !stopping.signal.aborted && runWatch(watch, dueAt)
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
        failureMessage: 'monitoring: could not reconcile watches; retrying',
      })
    },
    async idle() {
      await worker.idle()
      await resultWriter.idle()
    },
    /** Aborts running probes. */
    async close() {
      stopping.abort()
      await reconciling?.stop()
      await worker.close()
    },
  }
}

/** Runs a claimed watch. Resolves to false if the scheduler stopped before there was a result. */
type RunWatch = (watch: DueWatch, dueAt: Date) => Promise<boolean>

/**
 * Creates the function that runs a watch: it runs the probe or checks whether the heartbeat is late, and records the
 * result.
 * @param stopped aborts probes.
 */
function createWatchRunner(
  { ctx, resultWriter, run, metrics, reception, isNetworkUp = async () => false }: SchedulerParts,
  stopped: AbortSignal,
): RunWatch {
  const { now, log } = ctx
  const connectivity = createConnectivity({ isNetworkUp, log })
  // Each running probe adds a listener, and Node.js warns of a leak above ten.
  setMaxListeners(0, stopped)

  /** Sets the due time of a heartbeat that is not late yet. */
  async function reschedule({ id, dueAt: leasedUntil, schedule, runs }: DueWatch, at: Date): Promise<boolean> {
    const dueAt = heartbeatDue(schedule, { reportedAt: at, runs })
    await ctx.db.watch.updateMany({ where: { id, dueAt: leasedUntil }, data: { dueAt } })
    return true
  }

  /** Judges an overdue heartbeat by whether it could be received. */
  async function judgeMissed(watch: DueWatch, dueAt: Date, at: Date): Promise<ProbeResult> {
    await reception?.flush()
    const from = expectedFrom(watch.schedule, dueAt, watch.runs)
    return missedHeartbeat(watch, dueAt, at, await receivedWithin(ctx, { from, to: dueAt }))
  }

  /** Runs a probe, and ends it if it hangs, because its watch would never be probed again. */
  async function probe(watch: DueWatch): Promise<ProbeResult> {
    const ending = new AbortController()
    const end = () => ending.abort()
    stopped.addEventListener('abort', end, { once: true })
    try {
      return await withDeadline(MAX_PROBE_MS, 'A probe', run(watch, ending.signal))
    } catch (error) {
      end()
      log.error({ err: error, watch: watch.id }, 'monitoring: ended a hanging probe')
      return probeResult('UNKNOWN', 'The probe did not end. This is an internal error, which we have logged.')
    } finally {
      stopped.removeEventListener('abort', end)
    }
  }

  return async (watch, dueAt) => {
    const at = now()
    metrics.lateness.observe(Math.max(0, at.getTime() - dueAt.getTime()) / SECOND)
    const isHeartbeat = watch.monitor.kind === 'HEARTBEAT'
    if (isHeartbeat && !isLateAt(watch.schedule, dueAt, watch.runs)) return reschedule(watch, at)
    const found = isHeartbeat ? await judgeMissed(watch, dueAt, at) : await probe(watch)
    if (stopped.aborted) return false
    const wasDown = watch.memory.state === 'DOWN'
    const result = isHeartbeat ? found : await connectivity.assess(found, wasDown, performance.now())
    if (stopped.aborted) return false
    await resultWriter.record(watch, { at, result })
    return true
  }
}

/** Selects when the next watch of a region is due. Selects per region, because the index is by region. */
function earliestDue(region: string): Prisma.Sql {
  const of = (name: string) => earliestOf('Watch', Prisma.sql`region = ${name}`)
  return Prisma.sql`SELECT least((${of(region)}), (${of(ANYWHERE)}))`
}

/** Selects watches of other organizations. Watches have no organization of their own. */
function notMonitoredBy(organizationIds: readonly string[]): Prisma.Sql {
  return Prisma.sql`"monitorId" NOT IN (
    SELECT id FROM "Monitor" WHERE "organizationId" = ANY (${organizationIds}::text[]))`
}
