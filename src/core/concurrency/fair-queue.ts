/** Waiting items of several owners, who take turns: an owner with many items delays another one by a single item. */
export interface FairQueue<Owner, Item> {
  /** The number of items. */
  readonly size: number
  /** Returns the number of an owner's items. */
  sizeOf(owner: Owner): number
  /** Returns the number of an owner's items that were added with `isFirst`. */
  firstOf(owner: Owner): number
  /** @param isFirst whether the item comes before those of its owner that were added without it; absent: it does not. */
  add(owner: Owner, item: Item, isFirst?: boolean): void
  /** Removes the next item and returns it; undefined: there is none. @param may whether an owner has a turn; absent: all. */
  next(may?: (owner: Owner) => boolean): Item | undefined
  /** Removes an owner's next item and returns it, without the others' turns; undefined: it has none. */
  nextOf(owner: Owner): Item | undefined
  /** Removes all items and returns them. */
  clear(): Item[]
}

/** The items of an owner, in order. */
interface Own<Item> {
  readonly first: Item[]
  readonly others: Item[]
}

const sizeIn = ({ first, others }: Own<unknown>) => first.length + others.length

/** Creates an empty queue. */
export function createFairQueue<Owner, Item>(): FairQueue<Owner, Item> {
  const waiting = new Map<Owner, Own<Item>>()
  /** The owners with items; the next one comes first. Not the order of the Map: moving its entries is slow in V8. */
  const turns: Owner[] = []
  let size = 0

  /** Removes the next item of the owner at a place in `turns`, whose next turn comes after all others'. */
  function takeAt(turn: number): Item | undefined {
    const owner = turns[turn]
    if (owner === undefined) return undefined
    turns.splice(turn, 1)
    const own = waiting.get(owner) ?? { first: [], others: [] }
    const item = (own.first.length > 0 ? own.first : own.others).shift()
    if (sizeIn(own) > 0) turns.push(owner)
    else waiting.delete(owner)
    size -= 1
    return item
  }

  return {
    get size() {
      return size
    },
    sizeOf(owner) {
      const own = waiting.get(owner)
      return own ? sizeIn(own) : 0
    },
    firstOf: (owner) => waiting.get(owner)?.first.length ?? 0,
    add(owner, item, isFirst = false) {
      const known = waiting.get(owner)
      const own = known ?? { first: [], others: [] }
      if (!known) {
        waiting.set(owner, own)
        turns.push(owner)
      }
      ;(isFirst ? own.first : own.others).push(item)
      size += 1
    },
    next: (may = () => true) => takeAt(turns.findIndex((owner) => may(owner))),
    // It is mostly the one that had the turn before.
    nextOf: (owner) => (waiting.has(owner) ? takeAt(turns.lastIndexOf(owner)) : undefined),
    clear() {
      const items = turns.flatMap((owner) => {
        const own = waiting.get(owner)
        return own ? [...own.first, ...own.others] : []
      })
      waiting.clear()
      turns.length = 0
      size = 0
      return items
    },
  }
}
