import type pg from 'pg'
import type { Context } from '../context.ts'
import { within } from '../deadline.ts'
import type { LoopState } from '../repeat.ts'
import { loopState } from '../repeat.ts'
import { SECOND } from '../time.ts'
import { dispatch, undispatched } from './dispatch.ts'

/** Turns the logs of all organizations into deliveries, as they grow. */
export interface Dispatcher {
  /** Looks at an organization's log, or (null) at all of them. Must not throw. */
  wake(organizationId: string | null): void
  /** Resolves once everything that it was woken for is done. */
  idle(): Promise<void>
  /** Begins with what happened while nobody looked, and looks again now and then, in case a word got lost. */
  start(): void
  state(): LoopState
  /** Ends after what is under way. */
  close(): Promise<void>
}

/** How often all logs are looked at without having been told that they grew. */
const POLL = 5 * SECOND
/** How long one transaction may take, in milliseconds, before it is given up as hanging. */
const LONGEST = 30 * SECOND

/** A dispatcher, which works as the system. */
export function createDispatcher(ctx: Context, pool: Pick<pg.Pool, 'query'>): Dispatcher {
  const grown = new Set<string>()
  let all = false
  let closed = false
  let working: Promise<void> | null = null
  let poll: NodeJS.Timeout | undefined
  /** When the transaction under way began, by a clock that nobody sets. */
  let begun: number | null = null
  let hasFailed = false

  async function work(): Promise<void> {
    while (!closed && (all || grown.size > 0)) {
      const named = all ? null : [...grown]
      all = false
      grown.clear()
      for (const id of await step(undispatched(pool, named))) await dispatchAll(id)
    }
  }

  /** Part of the work, which is not to hang. */
  async function step<T>(part: Promise<T>): Promise<T> {
    begun = performance.now()
    try {
      const result = await within(LONGEST, 'Dispatching', part)
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
      while (!closed && (await step(dispatch(ctx, id)))) {}
    } catch (error) {
      ctx.log.error({ err: error, organization: id }, 'notification: events are not dispatched yet; trying again')
    }
  }

  function wake(organizationId: string | null): void {
    if (organizationId === null) all = true
    else grown.add(organizationId)
    working ??= work()
      .catch((error: unknown) => ctx.log.warn({ err: error }, 'notification: could not look for events; trying again'))
      .finally(() => {
        working = null
        if (!closed && (all || grown.size > 0)) wake(null)
      })
  }

  return {
    wake,
    state: () => loopState(begun, hasFailed),
    async idle() {
      while (working !== null) await working
    },
    start() {
      wake(null)
      poll = setInterval(() => wake(null), POLL).unref()
    },
    async close() {
      closed = true
      clearInterval(poll)
      await working
    },
  }
}
