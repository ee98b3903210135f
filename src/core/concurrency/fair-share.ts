/** What owners may take of a capacity now. */
export interface FairShare {
  /** How many places may be taken together; 0: none. */
  readonly limit: number
  /** The owners who may take none. */
  readonly full: readonly string[]
}

/**
 * Shares a capacity among owners whose number is unknown: none may hold more places than are free. Alone, an owner gets
 * a third to a half; two get a third each, and there is always room for another one (dynamic thresholds, Choudhury and
 * Hahne, 1998). An owner takes again once he holds at most half as many as are free, so that he takes several at once.
 * @param held the number of places by owner.
 */
export function fairShare(capacity: number, held: ReadonlyMap<string, number>): FairShare {
  const free = [...held.values()].reduce((left, count) => left - count, capacity)
  if (free <= 0) return { limit: 0, full: [...held.keys()] }
  return {
    limit: Math.max(1, Math.floor(free / 4)),
    full: [...held].filter(([, count]) => 2 * count > free).map(([owner]) => owner),
  }
}
