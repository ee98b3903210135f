import { Conflict } from '../core/errors.ts'
import type { Outcome } from '../core/outcome.ts'
import { awaitOutcome, isRefused } from '../core/outcome.ts'
import { SECOND } from '../core/time.ts'
import { invalid } from '../core/validation.ts'
import type { ChangeContext, ChangeResult } from './change.ts'
import { change } from './change.ts'

/** The maximum number of items per call. */
export const MAX_ITEMS = 100

/** `ATOMIC`: either all items of a call succeed or none. `EACH`: items succeed or fail independently. */
export const bulkModes = ['ATOMIC', 'EACH'] as const

export type BulkMode = (typeof bulkModes)[number]

/** Runs the chunk of items that starts at `index`; `work` makes one change. May return stored outcomes instead. */
export type ChunkRunner<C, T> = (index: number, work: (ctx: C) => Promise<Outcome<T>[]>) => Promise<Outcome<T>[]>

/** The number of items per transaction in mode `EACH`. Other changes of the organization run between transactions. */
const CHUNK_SIZE = 10

/** The time limit of an atomic call, for a busy machine. A call usually takes a second at most. */
const TIMEOUT_MS = 30 * SECOND

/**
 * Applies `work` to many items of an organization and returns their outcomes in order. `ATOMIC` makes one change, which
 * is rolled back when an item is refused; the other items then have the error `NOT_APPLIED`. `EACH` makes several
 * changes; only a refused item is rolled back.
 * @throws Invalid for more than a hundred items. An error that is not a DomainError ends the call.
 */
export async function bulk<C extends ChangeContext, I, T>(
  ctx: C,
  organizationId: string,
  {
    items,
    mode,
    part = (_index, work) => work(ctx),
  }: { readonly items: readonly I[]; readonly mode: BulkMode; readonly part?: ChunkRunner<C, T> | undefined },
  work: (ctx: C, item: I) => Promise<T>,
): Promise<Outcome<T>[]> {
  requireItemLimit(items.length)
  if (mode === 'ATOMIC') return part(0, (own) => runAtomic(own, organizationId, items, work))
  const outcomes: Outcome<T>[] = []
  for (let from = 0; from < items.length; from += CHUNK_SIZE) {
    const chunk = items.slice(from, from + CHUNK_SIZE)
    outcomes.push(...(await part(from, (own) => runEach(own, organizationId, chunk, work))))
  }
  return outcomes
}

/** @throws Invalid when a call has too many items. */
function requireItemLimit(count: number): void {
  if (count <= MAX_ITEMS) return
  throw invalid([{ path: ['items'], message: `must have at most ${MAX_ITEMS} items, has ${count}` }])
}

/** Thrown to roll back a change. Holds the outcomes of its items. */
class Rollback<T> extends Error {
  readonly outcomes: Outcome<T>[]

  constructor(outcomes: Outcome<T>[]) {
    super('An item was refused.')
    this.outcomes = outcomes
  }
}

async function runAtomic<C extends ChangeContext, I, T>(
  ctx: C,
  organizationId: string,
  items: readonly I[],
  work: (ctx: C, item: I) => Promise<T>,
): Promise<Outcome<T>[]> {
  try {
    const runAll = async (tx: C): Promise<ChangeResult<Outcome<T>[]>> => {
      const outcomes: Outcome<T>[] = []
      for (const item of items) outcomes.push(await awaitOutcome(work(tx, item)))
      // All items have run, even after a refused one, so that the caller gets all errors at once.
      if (outcomes.some(isRefused)) throw new Rollback(outcomes.map((each) => (isRefused(each) ? each : notApplied)))
      return [outcomes]
    }
    return await change(ctx, organizationId, runAll, { timeoutMs: TIMEOUT_MS })
  } catch (error) {
    if (error instanceof Rollback) return error.outcomes
    throw error
  }
}

function runEach<C extends ChangeContext, I, T>(
  ctx: C,
  organizationId: string,
  items: readonly I[],
  work: (ctx: C, item: I) => Promise<T>,
): Promise<Outcome<T>[]> {
  return change(ctx, organizationId, async (tx) => {
    const outcomes: Outcome<T>[] = []
    for (const item of items) {
      const before = tx.open?.events.length ?? 0
      await tx.db.$executeRaw`SAVEPOINT item`
      const outcome = await awaitOutcome(work(tx, item))
      if (isRefused(outcome)) {
        await tx.db.$executeRaw`ROLLBACK TO SAVEPOINT item`
        tx.open?.events.splice(before)
      }
      await tx.db.$executeRaw`RELEASE SAVEPOINT item`
      outcomes.push(outcome)
    }
    return [outcomes]
  })
}

const notApplied = new Conflict('Nothing was changed: another item of the call was refused.', 'NOT_APPLIED')
