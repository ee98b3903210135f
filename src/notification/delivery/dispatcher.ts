import type pg from 'pg'
import { waitAtMost, withDeadline } from '../../core/concurrency/deadline.ts'
import type { LoopState } from '../../core/concurrency/poll-loop.ts'
import { CHECK_PATIENCE_MS, loopState } from '../../core/concurrency/poll-loop.ts'
import type { Context } from '../../core/context.ts'
import { SECOND } from '../../core/time.ts'
import type { Agenda } from '../../database/lease/agenda.ts'
import { dueIfAny } from '../../database/lease/agenda.ts'
import type { EventHandler } from './dispatch.ts'
import { dispatch, findUndispatched, UNDISPATCHED } from './dispatch.ts'

/** Creates deliveries from the event logs of all organizations. */
export interface Dispatcher {
  /** Dispatches the new events of an organization, or of all organizations (null). Must not throw. */
  wake(organizationId: string | null): void
  /** Resolves once all requested work is done. */
  idle(): Promise<void>
  /** Dispatches missed events, including those whose database notification was lost. */
  start(agenda: Agenda): void
  state(): LoopState
  /** After a failure, looks for events now and waits for the result, at most until the dispatcher counts as busy. */
  check(): Promise<void>
  /** Finishes current work and stops. */
  close(): Promise<void>
}

/** The timeout of one transaction, in milliseconds. */
const TIMEOUT = 30 * SECOND

/** Creates a dispatcher with the rights of the system. @param handle a further handler of the events. */
export function createDispatcher(ctx: Context, pool: Pick<pg.Pool, 'query'>, handle?: EventHandler): Dispatcher {
  const grown = new Set<string>()
  let all = false
  let closed = false
  let working: Promise<void> | null = null
  let forget = () => {}
  /** The start of the current transaction, on the monotonic clock. */
  let begun: number | null = null
  let hasFailed = false

  async function work(): Promise<void> {
    while (!closed && (all || grown.size > 0)) {
      const named = all ? null : [...grown]
      all = false
      grown.clear()
      for (const id of await withTimeout(findUndispatched(pool, named))) await dispatchAll(id)
    }
  }

  /** Runs one transaction with the timeout, and records its state. */
  async function withTimeout<T>(part: Promise<T>): Promise<T> {
    begun = performance.now()
    try {
      const result = await withDeadline(TIMEOUT, 'Dispatching', part)
      hasFailed = false
      return result
    } catch (error) {
      hasFailed = true
      throw error
    } finally {
      begun = null
    }
  }

  async function dispatchAll(id: string): Promise<void> {
    try {
      while (!closed && (await withTimeout(dispatch(ctx, id, handle)))) {}
    } catch (error) {
      ctx.log.error({ err: error, organization: id }, 'notification: could not dispatch events; retrying')
    }
  }

  function wake(organizationId: string | null): void {
    if (organizationId === null) all = true
    else grown.add(organizationId)
    working ??= work()
      .catch((error: unknown) => ctx.log.warn({ err: error }, 'notification: could not check for events; retrying'))
      .finally(() => {
        working = null
        if (!closed && (all || grown.size > 0)) wake(null)
      })
  }

  async function idle(): Promise<void> {
    while (working !== null) await working
  }

  return {
    wake,
    state: () => loopState(begun, hasFailed),
    async check() {
      if (!hasFailed) return
      wake(null)
      await waitAtMost(CHECK_PATIENCE_MS, idle())
    },
    idle,
    start(agenda) {
      wake(null)
      forget = agenda.add(dueIfAny(UNDISPATCHED), () => wake(null))
    },
    async close() {
      closed = true
      forget()
      await working
    },
  }
}
