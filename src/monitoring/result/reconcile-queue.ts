import type { Logger } from 'pino'
import { withDeadline } from '../../core/concurrency/deadline.ts'
import { SECOND } from '../../core/time.ts'

/** The number of organizations to reconcile in parallel, and the number of monitors to reconcile together. */
const CONCURRENCY = 4
const BATCH = 25
/** The timeout of reconciling, in milliseconds. The next result of a monitor retries. */
const TIMEOUT_MS = 30 * SECOND

/** A queue of monitors to reconcile with their watches. */
export interface ReconcileQueue {
  /** Adds a monitor, unless it is already waiting. */
  add(organizationId: string, monitorId: string): void
  /** Starts to reconcile the waiting monitors, within the concurrency limit. */
  start(): void
  /** Resolves once all monitors are reconciled or dropped. */
  idle(): Promise<void>
  /** Drops the waiting monitors. Running work continues. */
  giveUp(): void
}

/**
 * Creates a queue. It reconciles monitors of an organization together, because locking the organization takes the most
 * time.
 * @param parts.reconcile reconciles monitors of one organization.
 */
export function createReconcileQueue(parts: {
  readonly reconcile: (organizationId: string, monitorIds: readonly string[]) => Promise<unknown>
  readonly log: Logger
}): ReconcileQueue {
  const { reconcile, log } = parts
  const waiting = new Map<string, Set<string>>()
  /** The organizations whose monitors are being reconciled. */
  const running = new Set<string>()
  const idlers = new Set<() => void>()

  function start(): void {
    for (const [organizationId, ids] of waiting) {
      if (running.size >= CONCURRENCY) return
      if (running.has(organizationId)) continue
      const some = [...ids].slice(0, BATCH)
      for (const id of some) ids.delete(id)
      if (ids.size === 0) waiting.delete(organizationId)
      running.add(organizationId)
      void reconcileSome(organizationId, some).finally(() => {
        running.delete(organizationId)
        start()
        resolveIdle()
      })
    }
  }

  async function reconcileSome(organizationId: string, ids: readonly string[]): Promise<void> {
    try {
      await withDeadline(TIMEOUT_MS, 'Reconciling monitors', reconcile(organizationId, ids))
    } catch (error) {
      log.error({ err: error, monitors: ids }, 'monitoring: could not reconcile monitors')
      // A monitor that fails must not block the others.
      if (ids.length > 1) for (const id of ids) await reconcileSome(organizationId, [id])
    }
  }

  const isIdle = () => waiting.size === 0 && running.size === 0

  function resolveIdle(): void {
    if (!isIdle()) return
    for (const resolve of idlers) resolve()
    idlers.clear()
  }

  return {
    add(organizationId, monitorId) {
      const ids = waiting.get(organizationId) ?? new Set()
      waiting.set(organizationId, ids.add(monitorId))
    },
    start,
    async idle() {
      if (!isIdle()) await new Promise<void>((resolve) => idlers.add(resolve))
    },
    giveUp() {
      waiting.clear()
      resolveIdle()
    },
  }
}
