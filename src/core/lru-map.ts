import { LRUCache } from 'lru-cache'

/** A map of at most so many entries. */
export type LruMap<V extends {}> = LRUCache<string, V>

/**
 * Creates a map of at most `max` entries, which drops the least recently used one. It takes memory as it fills: the
 * library's own option `max` reserves it for all entries at once.
 */
export function createLruMap<V extends {}>(max: number): LruMap<V> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 })
}
