import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createBatchWriter, removeWhere } from '../../core/concurrency/batch-writer.ts'
import type { LoopState } from '../../core/concurrency/poll-loop.ts'
import { loopState } from '../../core/concurrency/poll-loop.ts'
import type { Context, Database } from '../../core/context.ts'
import type { Metrics } from '../../core/telemetry/metrics.ts'
import type { Clock } from '../../core/time.ts'
import { MINUTE, SECOND } from '../../core/time.ts'
import type { DueWatch } from '../watch/due-watch.ts'
import type { WatchMemory } from '../watch/judge.ts'
import { judge } from '../watch/judge.ts'
import { nextDue } from '../watch/next-due.ts'
import { createReconcileQueue } from './reconcile-queue.ts'
import type { JudgedProbeResult, StoreOutcome, TimedProbeResult } from './result-store.ts'
import { isRefusal, storeResults } from './result-store.ts'

/** Derives states from results, stores the results in batches, and reconciles their monitors. */
export interface ResultWriter {
  /**
   * Stores a probe result of a watch, and sets when the watch is next due. Resolves to whether the result counted. It
   * does not count if another worker has claimed the watch, if the monitor was edited or paused since the watch was
   * read, or if the database was unavailable for too long.
   */
  record(watch: DueWatch, probe: TimedProbeResult): Promise<boolean>
  /** Resolves once all earlier results are stored and reconciled, or dropped. */
  idle(): Promise<void>
  /** The health of the writer. */
  state(): LoopState
  /** Resolves like `idle`. Discards later results. */
  close(): Promise<void>
}

/**
 * How long to gather results before a statement, in milliseconds. A statement takes as much time as many results, and
 * results should be written within 100 ms.
 */
const GATHER_MS = 50
/** The maximum number of results per statement. */
const MAX_BATCH = 500
/**
 * The maximum number of results that may wait while the database is unavailable, and how long they may wait, in
 * milliseconds. After that, their leases have expired.
 */
const MAX_WAITING = 20_000
const MAX_WAIT_MS = MINUTE
/** The delay after a failed statement, in milliseconds. */
const RETRY_DELAY_MS = 0.25 * SECOND
/** How long closing waits for reconciling, in milliseconds. The next results complete the rest. */
const CLOSE_TIMEOUT_MS = 5 * SECOND

interface WaitingResult extends JudgedProbeResult {
  /** When the result was recorded, in milliseconds of a monotonic clock. */
  readonly since: number
  readonly resolve: (counted: boolean) => void
}

/** The dependencies of a writer. */
interface WriterParts {
  readonly db: Database
  /** Reconciles monitors with their watches. */
  readonly reconcile: (organizationId: string, monitorIds: readonly string[]) => Promise<unknown>
  readonly metrics: Metrics
  readonly now: Clock
  readonly log: Logger
  /** How long to gather results before writing them, in milliseconds. */
  readonly gatherMs?: number
}

/** Creates a writer. */
export function createResultWriter(parts: WriterParts): ResultWriter {
  const { db, metrics, now, log, gatherMs = GATHER_MS } = parts
  const results = createBatchWriter<WaitingResult>({ full: MAX_BATCH, gatherMs, take: nextBatch, write })
  const reconciliation = createReconcileQueue({ reconcile: parts.reconcile, log })
  let closed = false
  /** Whether the last statement failed. */
  let hasFailed = false

  function drop(results: readonly WaitingResult[], why: string): void {
    if (results.length === 0) return
    metrics.dropped.inc(results.length)
    log.error({ results: results.length }, `monitoring: dropped results: ${why}`)
    for (const { resolve } of results) resolve(false)
  }

  async function write(batch: readonly WaitingResult[]): Promise<readonly WaitingResult[]> {
    try {
      await store({ db }, batch, { complete, reject })
      hasFailed = false
      return []
    } catch (error) {
      hasFailed = true
      return await afterFailure(batch, error)
    }
  }

  /** Drops results that have waited too long. Returns the results of the batch to store again. */
  async function afterFailure(batch: readonly WaitingResult[], error: unknown): Promise<readonly WaitingResult[]> {
    log.warn({ err: error, results: batch.length }, 'monitoring: could not store results; retrying')
    const since = performance.now() - MAX_WAIT_MS
    const isOver = (result: WaitingResult) => closed || result.since < since
    drop(
      [...batch.filter(isOver), ...results.remove(isOver)],
      closed ? 'the database is unavailable, and the service is stopping' : 'the database was unavailable for too long',
    )
    const again = batch.filter((result) => !isOver(result))
    if (again.length > 0) await sleep(RETRY_DELAY_MS)
    return again
  }

  function reject(result: WaitingResult, error: unknown): void {
    log.error({ err: error, watch: result.watch.id }, 'monitoring: the database rejected a result')
    drop([result], 'the database rejected them')
  }

  function complete(batch: readonly WaitingResult[], stored: ReadonlyMap<string, StoreOutcome>, ms: number): void {
    metrics.flushSeconds.observe(ms / SECOND)
    metrics.flushSize.observe(batch.length)
    for (const { watch, memory, resolve } of batch) {
      const row = stored.get(watch.id)
      resolve(row !== undefined)
      for (const id of row ? monitorsToReconcile(watch, memory, row) : [])
        reconciliation.add(watch.monitor.organizationId, id)
    }
    reconciliation.start()
  }

  async function idle(): Promise<void> {
    await results.idle()
    await reconciliation.idle()
  }

  return {
    record(watch, probe) {
      if (closed) return Promise.resolve(false)
      const judged = judgeResult(watch, probe, now())
      metrics.probes.inc({ kind: watch.monitor.kind, outcome: probe.result.outcome })
      return new Promise((resolve) => {
        results.add({ ...judged, since: performance.now(), resolve })
        if (results.waiting > MAX_WAITING) drop(results.removeOldest(), 'too many results are waiting for the database')
      })
    },
    idle,
    state: () => loopState(results.writingSince, hasFailed),
    close() {
      closed = true
      const timer = setTimeout(() => reconciliation.giveUp(), CLOSE_TIMEOUT_MS)
      return idle().finally(() => clearTimeout(timer))
    },
  }
}

function judgeResult(watch: DueWatch, probe: TimedProbeResult, now: Date): JudgedProbeResult {
  const { memory, retry } = judge(watch.memory, probe.result.outcome, probe.at, watch.monitor)
  return { watch, probe, memory, dueAt: nextDue(watch, probe.at, retry, now) }
}

/**
 * Returns the ids of the monitors to reconcile after storing a result: its monitor, and the monitors that wait for it.
 */
function monitorsToReconcile({ monitor }: DueWatch, { state }: WatchMemory, row: StoreOutcome): readonly string[] {
  const isAffected = state !== row.state || row.lacksIncident || row.isMarkedStale
  return isAffected ? [monitor.id, ...row.waiting] : row.waiting
}

/**
 * Stores a batch. Halves a batch that the database rejects, until it finds the rejected result. Calls `complete` for
 * each stored part, with the outcomes by watch and the time in milliseconds, and `reject` for a rejected result.
 * @throws when the database is unavailable.
 */
async function store(
  ctx: Pick<Context, 'db'>,
  batch: readonly WaitingResult[],
  on: {
    complete(batch: readonly WaitingResult[], stored: ReadonlyMap<string, StoreOutcome>, ms: number): void
    reject(result: WaitingResult, error: unknown): void
  },
): Promise<void> {
  const begun = performance.now()
  let stored: ReadonlyMap<string, StoreOutcome>
  try {
    stored = await storeResults(ctx, batch)
  } catch (error) {
    if (!isRefusal(error)) throw error
    const [first, second] = batch
    if (first && !second) return on.reject(first, error)
    const half = Math.ceil(batch.length / 2)
    await store(ctx, batch.slice(0, half), on)
    return store(ctx, batch.slice(half), on)
  }
  on.complete(batch, stored, performance.now() - begun)
}

/** Removes and returns the next results to write: at most one per monitor, because each changes its watch. */
function nextBatch(waiting: WaitingResult[]): WaitingResult[] {
  const seen = new Set<string>()
  return removeWhere(waiting, ({ watch }) => {
    if (seen.size >= MAX_BATCH || seen.has(watch.monitor.id)) return false
    seen.add(watch.monitor.id)
    return true
  })
}
