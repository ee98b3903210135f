import type { Context } from '../../core/context.ts'
import type { DatabaseHandle } from '../../database/client.ts'

/** The database notification that announces new deliveries. Its payload names their table. */
const DELIVERY_NOTIFICATION = 'delivery'

/** Wakes the workers of a table once the transaction is committed. */
export async function notifyDeliveryWorkers({ db }: Pick<Context, 'db'>, table: string): Promise<void> {
  await db.$executeRaw`SELECT pg_notify(${DELIVERY_NOTIFICATION}, ${table})`
}

/**
 * Calls `wake` when there are new deliveries in a table, or may be.
 * @returns a function that stops it. @throws if `LISTEN` fails.
 */
export function listenForDeliveries(
  database: Pick<DatabaseHandle, 'listen'>,
  table: string,
  wake: () => void,
): Promise<() => Promise<void>> {
  return database.listen(DELIVERY_NOTIFICATION, (named) => {
    if (!named || named === table) wake()
  })
}
