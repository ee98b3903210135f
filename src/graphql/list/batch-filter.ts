import type { Keys, Order, Position, Slice, Source } from './keyset.ts'
import { orderByOf, sideOf } from './keyset.ts'

/** Rows tested per batch: few at first, because the page may be full soon. */
const FIRST_BATCH = 100
const LARGEST_BATCH = 500

/** Rows to be tested. */
interface Candidates<K extends Keys, Candidate extends Position<K> & { readonly id: string }, Row, W> {
  readonly order: Order<K>
  /** Reads only the keys of the rows and what the test needs. */
  readonly candidates: (slice: Slice<K, W>) => Promise<readonly Candidate[]>
  /** Returns the ids of the candidates that pass the test. */
  readonly selectMatching: (candidates: readonly Candidate[]) => Promise<ReadonlySet<string>>
  /** Reads rows by id, in any order. */
  readonly read: (ids: string[]) => Promise<readonly (Row & { readonly id: string })[]>
}

/**
 * Returns `read` and `count` for `pageOf` when rows must pass a test that is too expensive for one statement, such as a
 * search of long texts. Tests rows in page order, in batches, until the page is full.
 */
export function filteredInBatches<
  K extends Keys,
  Candidate extends Position<K> & { readonly id: string },
  Row extends Position<K>,
  W,
>({
  order,
  candidates,
  selectMatching,
  read,
}: Candidates<K, Candidate, Row, W>): Pick<Source<K, Row, W>, 'read' | 'count'> {
  async function* matchingBatches(slice: Omit<Slice<K, W>, 'take'>, side: 'after' | 'before') {
    let where = slice.where
    for (let take = FIRST_BATCH; ; take = LARGEST_BATCH) {
      const batch = await candidates({ where, orderBy: slice.orderBy, take })
      const last = batch.at(-1)
      if (last === undefined) return
      const matches = await selectMatching(batch)
      yield batch.filter(({ id }) => matches.has(id))
      if (batch.length < take) return
      where = { AND: [...slice.where.AND, sideOf(order, last, side)] }
    }
  }

  async function idsOf(slice: Slice<K, W>, backward: boolean): Promise<string[]> {
    const ids: string[] = []
    for await (const batch of matchingBatches(slice, backward ? 'before' : 'after')) {
      ids.push(...batch.map(({ id }) => id))
      if (ids.length >= slice.take) break
    }
    return ids.slice(0, slice.take)
  }

  return {
    async read(slice, backward) {
      for (;;) {
        const ids = await idsOf(slice, backward)
        const rows = new Map((ids.length === 0 ? [] : await read(ids)).map((row) => [row.id, row]))
        const found = ids.flatMap((id) => rows.get(id) ?? [])
        // A row deleted in the meantime must not make the page look like the last one.
        if (found.length === ids.length) return found
      }
    },
    async count({ where, take = Number.POSITIVE_INFINITY }) {
      let count = 0
      for await (const batch of matchingBatches({ where, orderBy: orderByOf(order, false) }, 'after')) {
        count += batch.length
        if (count >= take) break
      }
      return count
    },
  }
}
