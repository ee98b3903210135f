import type { LoopState } from '../../core/concurrency/poll-loop.ts'
import { worseState } from '../../core/concurrency/poll-loop.ts'
import type { DatabaseHandle } from '../../database/client.ts'
import type { Agenda } from '../../database/lease/agenda.ts'
import { dueIfAny } from '../../database/lease/agenda.ts'
import { listenToLogs } from '../../event-log/event.ts'
import { followOrganizations, UNFOLLOWED } from '../push/follow.ts'
import type { DeliveryKind, DueRow } from '../queue/kind.ts'
import { listenForDeliveries } from '../queue/wake-up.ts'
import type { WorkerParts } from '../queue/worker.ts'
import { createDeliveryWorker } from '../queue/worker.ts'
import type { EventHandler } from './dispatch.ts'
import { createDispatcher } from './dispatcher.ts'

/** The running dispatcher and delivery workers. */
export interface Notifier {
  /** Returns the worst of their states. */
  state(): LoopState
  /** Looks for due deliveries now, so that `state` is current. */
  check(): Promise<void>
  /** Finishes current work and stops. */
  close(): Promise<void>
}

/**
 * Starts the dispatcher, which creates deliveries from events, and a worker for each kind of delivery. Each kind has a
 * worker of its own, so that an incident with many subscribers does not delay an alert.
 * @param kinds the kinds of deliveries. @param handleEvents a further handler of the dispatched events.
 * @throws if `LISTEN` fails.
 */
export async function startNotifier(
  parts: WorkerParts & {
    readonly database: DatabaseHandle
    readonly agenda: Agenda
    readonly kinds: readonly DeliveryKind<DueRow>[]
    readonly handleEvents?: EventHandler
  },
): Promise<Notifier> {
  const { ctx, database, agenda, kinds, handleEvents } = parts
  const dispatcher = createDispatcher(ctx, database.pool, handleEvents)
  const workers = kinds.map((kind) => createDeliveryWorker(parts, kind))
  const stopListening = [await listenToLogs(database, dispatcher.wake)]
  for (const [index, { table }] of kinds.entries())
    stopListening.push(await listenForDeliveries(database, table, () => workers[index]?.wake()))
  // Finds organizations that a person with a browser has joined.
  const stopFollowing = agenda.add(dueIfAny(UNFOLLOWED), () => {
    followOrganizations(ctx.db).catch((error: unknown) =>
      ctx.log.warn({ err: error }, 'notification: could not follow an organization; retrying'),
    )
  })
  dispatcher.start(agenda)
  for (const worker of workers) worker.start()
  const all = [dispatcher, ...workers]
  return {
    check: async () => void (await Promise.all(all.map((each) => each.check()))),
    state: () => all.map((each) => each.state()).reduce(worseState),
    async close() {
      stopFollowing()
      for (const stop of stopListening) await stop()
      await dispatcher.close()
      await Promise.all(workers.map((worker) => worker.close()))
    },
  }
}
