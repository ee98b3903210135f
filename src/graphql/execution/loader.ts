import DataLoader from 'dataloader'
import type { GraphContext } from '../schema/builder.ts'
import { inTimeSlice, whenListsAreComplete } from './list-slicing.ts'

/**
 * Creates a loader that batches the reads of one operation, such as a value per monitor. It does not cache, because a
 * subscription must read current values for each event.
 * @param read returns one value per key, in the order of the keys.
 */
export function batchPerOperation<K, V>(read: (ctx: GraphContext, keys: readonly K[]) => Promise<readonly V[]>) {
  const options = (ctx: GraphContext) => ({
    cache: false,
    batchScheduleFn: (read: () => void) => whenListsAreComplete(ctx, read),
  })
  const loaders = new WeakMap<GraphContext, DataLoader<K, V>>()
  return (ctx: GraphContext, key: K): Promise<V> => {
    const loader = loaders.get(ctx) ?? new DataLoader<K, V>((keys) => read(ctx, keys), options(ctx))
    loaders.set(ctx, loader)
    // All values of a batch arrive together, and each is completed when it arrives.
    return loader.load(key).then((value) => inTimeSlice(ctx, value))
  }
}

/**
 * Reads a row in the same turn as other rows of the operation, because Prisma only batches `findUnique` calls of the
 * same turn, and items of a list are completed in several.
 * @throws the errors of `read`.
 */
export function readTogether<V>(ctx: GraphContext, read: () => Promise<V>): Promise<V> {
  return together(ctx, read) as Promise<V>
}

const together = batchPerOperation((_ctx, reads: readonly (() => Promise<unknown>)[]) =>
  Promise.all(reads.map((read) => read().catch(asError))),
)

/** An error only reaches the caller that requested the row. */
const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)))
