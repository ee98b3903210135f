import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { createBatchWriter, removeWhere } from '../core/batch-writer.ts'
import { withDeadline } from '../core/deadline.ts'
import type { Metrics } from '../core/metrics.ts'
import type { LoopState } from '../core/poll-loop.ts'
import { loopState } from '../core/poll-loop.ts'
import type { Clock } from '../core/time.ts'
import { MINUTE, SECOND } from '../core/time.ts'
import type { DueWatch } from './due-watch.ts'
import type { WatchMemory } from './judge.ts'
import { judge } from './judge.ts'
import { nextDue } from './next-due.ts'
import type { JudgedProbeResult, StoreOutcome, TimedProbeResult } from './result-store.ts'
import { isRefusal, storeResults } from './result-store.ts'

/** Judges results, stores them in batches, and reconciles their monitors. */
export interface ResultWriter {
  /**
   * Stores a probe result of a watch, and sets when the watch is next due. Resolves to whether it counted: it does not
   * when another worker claimed the watch, when the watch was edited or paused since it was read, or when the database
   * was unavailable for too long.
   */
  record(watch: DueWatch, probe: TimedProbeResult): Promise<boolean>
  /** Resolves once all earlier results are stored and reconciled, or given up. */
  idle(): Promise<void>
  /** The health of the writer. */
  state(): LoopState
  /** Like `idle`; later results are discarded. */
  close(): Promise<void>
}

/**
 * How long results gather before a statement, in milliseconds: a statement costs as much as many results, and a result
 * is written within 100 ms.
 */
const GATHER_MS = 50
/** The maximum number of results per statement. */
const MAX_BATCH = 500
/**
 * How many results may wait while the database is unavailable, and for how long in milliseconds: after that their
 * leases have expired.
 */
const MAX_WAITING = 20_000
const MAX_WAIT_MS = MINUTE
/** The delay after a failed statement, in milliseconds. */
const RETRY_DELAY_MS = 0.25 * SECOND
/** How many organizations are reconciled at once, and how many monitors of one organization together. */
const RECONCILE_CONCURRENCY = 4
const RECONCILE_BATCH = 25
/** The timeout of reconciling, in milliseconds; the next result tries again. */
const RECONCILE_TIMEOUT_MS = 30 * SECOND
/** How long closing waits for reconciling, in milliseconds; the next result does the rest. */
const CLOSE_TIMEOUT_MS = 5 * SECOND

interface WaitingResult extends JudgedProbeResult {
  /** When it was recorded, in milliseconds of a monotonic clock. */
  readonly since: number
  readonly resolve: (counted: boolean) => void
}

/**
 * Creates a writer.
 * @param reconcile reconciles monitors with their watches. @param gatherMs how long results gather before they are
 * written.
 */
export function createResultWriter(parts: {
  readonly pool: Pick<pg.Pool, 'query'>
  readonly reconcile: (organizationId: string, monitorIds: readonly string[]) => Promise<unknown>
  readonly metrics: Metrics
  readonly now: Clock
  readonly log: Logger
  readonly gatherMs?: number
}): ResultWriter {
  const { pool, metrics, now, log, gatherMs = GATHER_MS } = parts
  const results = createBatchWriter<WaitingResult>({ full: MAX_BATCH, gatherMs, take: nextBatch, write })
  /** Monitors to reconcile, by organization. */
  const unreconciled = new Map<string, Set<string>>()
  const reconciling = new Set<string>()
  const idlers = new Set<() => void>()
  let closed = false
  /** Whether the last statement failed. */
  let hasFailed = false

  function drop(results: readonly WaitingResult[], why: string): void {
    if (results.length === 0) return
    metrics.dropped.inc(results.length)
    log.error({ results: results.length }, `monitoring: results lost: ${why}`)
    for (const { resolve } of results) resolve(false)
  }

  async function write(batch: readonly WaitingResult[]): Promise<readonly WaitingResult[]> {
    try {
      await store(batch)
      hasFailed = false
      return []
    } catch (error) {
      hasFailed = true
      return await afterFailure(batch, error)
    }
  }

  /** Drops results that have waited too long. Returns those of the batch to store again. */
  async function afterFailure(batch: readonly WaitingResult[], error: unknown): Promise<readonly WaitingResult[]> {
    log.warn({ err: error, results: batch.length }, 'monitoring: could not store results; trying again')
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

  /**
   * Stores a batch; halves a batch that the database rejects until the rejected result is found. @throws when the
   * database is unavailable.
   */
  async function store(batch: readonly WaitingResult[]): Promise<void> {
    const begun = performance.now()
    let stored: Map<string, StoreOutcome>
    try {
      stored = await storeResults(pool, batch)
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (batch.length === 1) {
        log.error({ err: error, watch: batch[0]?.watch.id }, 'monitoring: the database rejects a result')
        return drop(batch, 'the database rejects them')
      }
      const half = Math.ceil(batch.length / 2)
      await store(batch.slice(0, half))
      return store(batch.slice(half))
    }
    metrics.flushSeconds.observe((performance.now() - begun) / SECOND)
    metrics.flushSize.observe(batch.length)
    for (const { watch, memory, resolve } of batch) {
      const row = stored.get(watch.id)
      resolve(row !== undefined)
      if (row) addAffected(watch, memory, row)
    }
    reconcileNext()
  }

  function addAffected({ monitor: { id, organizationId } }: DueWatch, { state }: WatchMemory, row: StoreOutcome): void {
    if (state !== row.state || row.lacksIncident || row.isMarkedStale) addUnreconciled(organizationId, id)
    for (const each of row.waiting) addUnreconciled(organizationId, each)
  }

  function addUnreconciled(organizationId: string, id: string): void {
    const ids = unreconciled.get(organizationId) ?? new Set()
    unreconciled.set(organizationId, ids.add(id))
  }

  /** Reconciles several monitors of an organization together: the lock on the organization costs most. */
  function reconcileNext(): void {
    for (const [organizationId, ids] of unreconciled) {
      if (reconciling.size >= RECONCILE_CONCURRENCY) return
      if (reconciling.has(organizationId)) continue
      const some = [...ids].slice(0, RECONCILE_BATCH)
      for (const id of some) ids.delete(id)
      if (ids.size === 0) unreconciled.delete(organizationId)
      reconciling.add(organizationId)
      void reconcileSome(organizationId, some).finally(() => {
        reconciling.delete(organizationId)
        reconcileNext()
        resolveIdle()
      })
    }
  }

  async function reconcileSome(organizationId: string, ids: readonly string[]): Promise<void> {
    try {
      await withDeadline(RECONCILE_TIMEOUT_MS, 'Reconciling monitors', parts.reconcile(organizationId, ids))
    } catch (error) {
      log.error({ err: error, monitors: ids }, 'monitoring: could not reconcile monitors')
      // A monitor that fails must not block the others.
      if (ids.length > 1) for (const id of ids) await reconcileSome(organizationId, [id])
    }
  }

  const isReconciled = () => unreconciled.size === 0 && reconciling.size === 0

  function resolveIdle(): void {
    if (!isReconciled()) return
    for (const resolve of idlers) resolve()
    idlers.clear()
  }

  async function idle(): Promise<void> {
    await results.idle()
    if (!isReconciled()) await new Promise<void>((resolve) => idlers.add(resolve))
  }

  return {
    record(watch, probe) {
      if (closed) return Promise.resolve(false)
      const { memory, retry } = judge(watch.memory, probe.result.outcome, probe.at, watch.monitor)
      const dueAt = nextDue(watch, probe.at, retry, now())
      metrics.probes.inc({ kind: watch.monitor.kind, outcome: probe.result.outcome })
      return new Promise((resolve) => {
        results.add({ watch, probe, memory, dueAt, since: performance.now(), resolve })
        if (results.waiting > MAX_WAITING) drop(results.removeOldest(), 'too many results wait for the database')
      })
    },
    idle,
    state: () => loopState(results.writingSince, hasFailed),
    close() {
      closed = true
      const timer = setTimeout(() => {
        unreconciled.clear()
        resolveIdle()
      }, CLOSE_TIMEOUT_MS)
      return idle().finally(() => clearTimeout(timer))
    },
  }
}

/** Removes the next results to write: one of each monitor, because its watch changes with it. */
function nextBatch(waiting: WaitingResult[]): WaitingResult[] {
  const seen = new Set<string>()
  return removeWhere(waiting, ({ watch }) => {
    if (seen.size >= MAX_BATCH || seen.has(watch.monitor.id)) return false
    seen.add(watch.monitor.id)
    return true
  })
}
