/** Waiting items of several owners, who take turns: an owner with many items delays another one by a single item. */
export interface FairQueue<Owner, Item> {
  /** The number of items. */
  readonly size: number
  /** Returns the number of an owner's items. */
  sizeOf(owner: Owner): number
  add(owner: Owner, item: Item): void
  /** Removes the next item and returns it; undefined: there is none. @param may whether an owner has a turn; absent: all. */
  next(may?: (owner: Owner) => boolean): Item | undefined
  /** Removes all items and returns them. */
  clear(): Item[]
}

/** Creates an empty queue. */
export function createFairQueue<Owner, Item>(): FairQueue<Owner, Item> {
  /** The items by owner; the next owner comes first. */
  const waiting = new Map<Owner, Item[]>()
  let size = 0

  return {
    get size() {
      return size
    },
    sizeOf: (owner) => waiting.get(owner)?.length ?? 0,
    add(owner, item) {
      const own = waiting.get(owner)
      if (own) own.push(item)
      else waiting.set(owner, [item])
      size += 1
    },
    next(may = () => true) {
      for (const [owner, own] of waiting) {
        if (!may(owner)) continue
        const item = own.shift()
        waiting.delete(owner)
        if (own.length > 0) waiting.set(owner, own)
        size -= 1
        return item
      }
      return undefined
    },
    clear() {
      const items = [...waiting.values()].flat()
      waiting.clear()
      size = 0
      return items
    },
  }
}
