import type { Context } from '../../core/context.ts'

/** The database notification that announces new deliveries. */
export const DELIVERY_NOTIFICATION = 'delivery'

/** Wakes the workers once the transaction is committed. */
export async function notifyDeliveryWorkers({ db }: Pick<Context, 'db'>): Promise<void> {
  await db.$executeRaw`SELECT pg_notify(${DELIVERY_NOTIFICATION}, '')`
}
