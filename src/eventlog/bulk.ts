import type { Context } from '../context.ts'
import { Conflict, DomainError } from '../errors.ts'
import { SECOND } from '../time.ts'
import { invalid } from '../validate.ts'
import type { Changed } from './change.ts'
import { change } from './change.ts'

/** The most items that one call takes. */
export const MOST_ITEMS = 100

/** Whether all items of a call are done or none, or each by itself. */
export const bulkModes = ['ATOMIC', 'EACH'] as const

export type BulkMode = (typeof bulkModes)[number]

/** What came of an item: what the work gave, or why it was refused. */
export type Outcome<T> = { readonly value: T } | { readonly error: DomainError }

/** Does a part of the items, the one with an index: `work` makes one change. It may give what came of them before. */
export type Part<C, T> = (index: number, work: (ctx: C) => Promise<Outcome<T>[]>) => Promise<Outcome<T>[]>

/** How many items are done in one transaction when each is done by itself: others get their turn after them. */
const AT_ONCE = 10

/** How long all items together may take on a machine that is busy; a second or less otherwise. */
const LONGEST = 30 * SECOND

/**
 * Does the same to many things of an organization, and gives what came of each, in their order. ATOMIC: in one change, which
 * is undone when an item is refused; those that were not refused are then told `NOT_APPLIED`. EACH: in several changes, in
 * which an item that is refused leaves nothing behind.
 * @throws Invalid when there are more than a hundred items. What is no refusal ends the call.
 */
export async function bulk<C extends Context, I, T>(
  ctx: C,
  organizationId: string,
  {
    items,
    mode,
    part = (_index, work) => work(ctx),
  }: { readonly items: readonly I[]; readonly mode: BulkMode; readonly part?: Part<C, T> | undefined },
  work: (ctx: C, item: I) => Promise<T>,
): Promise<Outcome<T>[]> {
  requireFew(items.length)
  if (mode === 'ATOMIC') return part(0, (own) => allOrNone(own, organizationId, items, work))
  const outcomes: Outcome<T>[] = []
  for (let from = 0; from < items.length; from += AT_ONCE) {
    const some = items.slice(from, from + AT_ONCE)
    outcomes.push(...(await part(from, (own) => eachByItself(own, organizationId, some, work))))
  }
  return outcomes
}

/** @throws Invalid when a call has more items than it may. */
function requireFew(count: number): void {
  if (count <= MOST_ITEMS) return
  throw invalid([{ path: ['items'], message: `must be at most ${MOST_ITEMS}, and are ${count}` }])
}

/** Undoes a change whose outcomes are known. */
class Undone<T> extends Error {
  readonly outcomes: Outcome<T>[]

  constructor(outcomes: Outcome<T>[]) {
    super('An item was refused.')
    this.outcomes = outcomes
  }
}

async function allOrNone<C extends Context, I, T>(
  ctx: C,
  organizationId: string,
  items: readonly I[],
  work: (ctx: C, item: I) => Promise<T>,
): Promise<Outcome<T>[]> {
  try {
    const all = async (tx: Context): Promise<Changed<Outcome<T>[]>> => {
      const outcomes: Outcome<T>[] = []
      for (const item of items) outcomes.push(await outcomeOf(work({ ...ctx, ...tx }, item)))
      // Items after one that is refused are looked at as well, so that everything wrong is told at once.
      if (outcomes.some(isRefused)) throw new Undone(outcomes.map((each) => (isRefused(each) ? each : notApplied)))
      return [outcomes]
    }
    return await change(ctx, organizationId, all, LONGEST)
  } catch (error) {
    if (error instanceof Undone) return error.outcomes
    throw error
  }
}

function eachByItself<C extends Context, I, T>(
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
      const outcome = await outcomeOf(work({ ...ctx, ...tx }, item))
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

async function outcomeOf<T>(work: Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await work }
  } catch (error) {
    if (error instanceof DomainError) return { error }
    throw error
  }
}

const isRefused = <T>(outcome: Outcome<T>): outcome is { readonly error: DomainError } => 'error' in outcome

const notApplied = {
  error: new Conflict('Nothing was done: another item of the call was refused.', 'NOT_APPLIED'),
} as const
