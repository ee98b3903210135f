import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { within } from '../deadline.ts'
import type { Metrics } from '../metrics.ts'
import type { Clock } from '../time.ts'
import { MINUTE, SECOND } from '../time.ts'
import type { DueWatch } from './due-watch.ts'
import { judge } from './judge.ts'
import type { Check, Result, Stored } from './result-store.ts'
import { isRefusal, storeResults } from './result-store.ts'
import { nextDue } from './schedule.ts'

/** Where results go: judged, stored in batches, and settled. */
export interface Recorder {
  /**
   * Stores what a check of a watch found, and sets when it is next due. Resolves to whether it counted: not when the watch
   * was taken by another, edited or paused since it was read, nor when the database was away for too long.
   */
  record(watch: DueWatch, check: Check): Promise<boolean>
  /** Resolves once all that was recorded before is stored and settled, or given up. */
  idle(): Promise<void>
  /** The same, once: what is recorded later counts for nothing. */
  close(): Promise<void>
}

/** Each statement costs as much as many results do; and within 100 ms all is written. */
const GATHER = 50
/** How many results one statement writes at most. */
const BATCH = 500
/** How many results wait at most while the database is away, and for how long: their leases are over then. */
const MOST_WAITING = 20_000
const LONGEST_WAIT = MINUTE
/** How long after a failed statement the next is tried. */
const RETRY = 0.25 * SECOND
/** How many organizations are settled at once, and how many monitors of one together. */
const SETTLING = 4
const TOGETHER = 25
/** How long that may take, in milliseconds, before it is given up: the next result settles them again. */
const LONGEST_SETTLING = 30 * SECOND
/** How long the service waits for that when it stops: what is left is settled with the next result. */
const PATIENCE = 5 * SECOND

interface Waiting extends Result {
  /** When it was recorded, in milliseconds of a clock that nobody sets. */
  readonly since: number
  readonly tell: (counted: boolean) => void
}

/**
 * A recorder over the database.
 * @param settle brings monitors' states, incidents and events in line with what their watches say. @param gatherMs how long
 * results gather at least before they are written.
 */
export function createRecorder(parts: {
  readonly pool: Pick<pg.Pool, 'query'>
  readonly settle: (organizationId: string, monitorIds: readonly string[]) => Promise<void>
  readonly metrics: Metrics
  readonly now: Clock
  readonly log: Logger
  readonly gatherMs?: number
}): Recorder {
  const { pool, metrics, now, log, gatherMs = GATHER } = parts
  const waiting: Waiting[] = []
  /** Monitors that have to be settled, by their organization. */
  const unsettled = new Map<string, Set<string>>()
  const settling = new Set<string>()
  const idlers = new Set<() => void>()
  let writing = false
  let closed = false

  function drop(results: readonly Waiting[], why: string): void {
    if (results.length === 0) return
    metrics.dropped.inc(results.length)
    log.error({ results: results.length }, `monitoring: results are lost: ${why}`)
    for (const { tell } of results) tell(false)
  }

  async function write(): Promise<void> {
    writing = true
    while (waiting.length > 0) {
      if (waiting.length < BATCH && idlers.size === 0) await sleep(gatherMs)
      const batch = takeBatch(waiting)
      await store(batch).catch((error: unknown) => keep(batch, error))
    }
    writing = false
    tellIdlers()
  }

  /** Keeps what could not be stored for another try, but not for ever. */
  async function keep(batch: readonly Waiting[], error: unknown): Promise<void> {
    log.warn({ err: error, results: batch.length }, 'monitoring: results are not stored yet; trying again')
    waiting.unshift(...batch)
    if (closed) return drop(waiting.splice(0), 'the database is away, and the service stops')
    const old = performance.now() - LONGEST_WAIT
    drop(
      takeWhere(waiting, ({ since }) => since < old),
      'the database was away for too long',
    )
    await sleep(RETRY)
  }

  /** @throws when the database is away. A batch that it refuses is halved until the result is found that it refuses. */
  async function store(batch: readonly Waiting[]): Promise<void> {
    const begun = performance.now()
    let stored: Map<string, Stored>
    try {
      stored = await storeResults(pool, batch)
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (batch.length === 1) {
        log.error({ err: error, watch: batch[0]?.watch.id }, 'monitoring: a result cannot be stored')
        return drop(batch, 'the database refuses them')
      }
      const half = Math.ceil(batch.length / 2)
      await store(batch.slice(0, half))
      return store(batch.slice(half))
    }
    metrics.flushSeconds.observe((performance.now() - begun) / SECOND)
    metrics.flushSize.observe(batch.length)
    for (const { watch, memory, tell } of batch) {
      const row = stored.get(watch.id)
      tell(row !== undefined)
      if (row && (memory.state !== row.state || row.untold || row.silent)) addUnsettled(watch)
    }
    settleNext()
  }

  function addUnsettled({ monitor: { id, organizationId } }: DueWatch): void {
    const ids = unsettled.get(organizationId) ?? new Set()
    unsettled.set(organizationId, ids.add(id))
  }

  /** Settles several monitors of an organization together: what that costs most is the organization's turn. */
  function settleNext(): void {
    for (const [organizationId, ids] of unsettled) {
      if (settling.size >= SETTLING) return
      if (settling.has(organizationId)) continue
      const some = [...ids].slice(0, TOGETHER)
      for (const id of some) ids.delete(id)
      if (ids.size === 0) unsettled.delete(organizationId)
      settling.add(organizationId)
      void settleSome(organizationId, some).finally(() => {
        settling.delete(organizationId)
        settleNext()
        tellIdlers()
      })
    }
  }

  async function settleSome(organizationId: string, ids: readonly string[]): Promise<void> {
    try {
      await within(LONGEST_SETTLING, 'Settling', parts.settle(organizationId, ids))
    } catch (error) {
      log.error({ err: error, monitors: ids }, 'monitoring: monitors are not settled')
      // One that cannot be settled holds up no other.
      if (ids.length > 1) for (const id of ids) await settleSome(organizationId, [id])
    }
  }

  const isIdle = () => !writing && unsettled.size === 0 && settling.size === 0

  function tellIdlers(): void {
    if (!isIdle()) return
    for (const tell of idlers) tell()
    idlers.clear()
  }

  async function idle(): Promise<void> {
    if (!isIdle()) await new Promise<void>((resolve) => idlers.add(resolve))
  }

  return {
    record(watch, check) {
      if (closed) return Promise.resolve(false)
      const { memory, retry } = judge(watch.memory, check.finding.outcome, check.at, watch.monitor)
      const dueAt = nextDue(watch, check.at, retry, now())
      metrics.probes.inc({ kind: watch.monitor.kind, outcome: check.finding.outcome })
      return new Promise((tell) => {
        waiting.push({ watch, check, memory, dueAt, since: performance.now(), tell })
        if (waiting.length > MOST_WAITING) drop(waiting.splice(0, 1), 'too many wait for the database')
        if (!writing) void write()
      })
    },
    idle,
    close() {
      closed = true
      const enough = setTimeout(() => {
        unsettled.clear()
        tellIdlers()
      }, PATIENCE)
      return idle().finally(() => clearTimeout(enough))
    },
  }
}

/** The results to write next, in order: of each monitor one, for its watch changes with it. */
function takeBatch(waiting: Waiting[]): Waiting[] {
  const seen = new Set<string>()
  return takeWhere(waiting, ({ watch }) => {
    if (seen.size >= BATCH || seen.has(watch.monitor.id)) return false
    seen.add(watch.monitor.id)
    return true
  })
}

/** Removes what is such from a list, and gives it. */
function takeWhere<T>(list: T[], such: (value: T) => boolean): T[] {
  const taken: T[] = []
  const left = list.filter((value) => !such(value) || taken.push(value) === 0)
  list.splice(0, list.length, ...left)
  return taken
}
