import DataLoader from 'dataloader'
import type { GraphContext } from './builder.ts'

/**
 * Reads together what one operation asks for many times, such as a figure of each monitor of a page. Nothing is kept: an
 * operation that lasts, as a subscription, is told what is so each time.
 * @param read gives as many values as keys, in their order.
 */
export function perOperation<K, V>(read: (ctx: GraphContext, keys: readonly K[]) => Promise<readonly V[]>) {
  const loaders = new WeakMap<GraphContext, DataLoader<K, V>>()
  return (ctx: GraphContext, key: K): Promise<V> => {
    const loader = loaders.get(ctx) ?? new DataLoader<K, V>((keys) => read(ctx, keys), { cache: false })
    loaders.set(ctx, loader)
    return loader.load(key)
  }
}
