import type { Context } from '../core/context.ts'
import { transaction } from '../core/context.ts'
import { NotFound } from '../core/errors.ts'
import type { NewEvent } from './event.ts'
import { appendEvents } from './event.ts'

/** The result of a change, followed by its events in order. */
export type ChangeResult<T> = readonly [result: T, ...events: NewEvent[]]

/** A running change. Nested changes of the same organization are part of it. */
interface OpenChange {
  readonly organizationId: string
  /** The events so far; appended to the log at the end. */
  readonly events: NewEvent[]
  /** Values read once for all parts, by key. */
  readonly cache: Map<string, Promise<unknown>>
}

declare module '../core/context.ts' {
  interface Context {
    /** The change whose transaction this context belongs to; absent: none. */
    readonly open?: OpenChange | undefined
  }
}

/**
 * Changes an organization in one transaction and appends the events that `work` returns to its log. The transaction locks
 * the organization's row first, so changes to one organization run one at a time across all processes: what `work` reads
 * stays true until the commit, and changes cannot deadlock. A nested change of the same organization joins the outer one:
 * it takes no lock, and its events are appended with the others.
 * @param timeoutMs the time limit of the transaction; absent: the default limit.
 * @throws NotFound when there is no such organization.
 */
export function change<T>(
  ctx: Context,
  organizationId: string,
  work: (ctx: Context) => Promise<ChangeResult<T>>,
  timeoutMs?: number,
): Promise<T> {
  if (ctx.open?.organizationId === organizationId) return runPart(ctx, ctx.open, work)
  const runAll = async (tx: Context) => {
    const [organization] = await tx.db.$queryRaw<{ deletedAt: Date | null }[]>`
      SELECT "deletedAt" FROM "Organization" WHERE id = ${organizationId} FOR NO KEY UPDATE`
    // API keys lose access to a deleted organization at once; payments and the operator keep it.
    if (!organization || (organization.deletedAt !== null && ctx.actor.kind === 'apiKey'))
      throw new NotFound('Organization not found.')
    const open: OpenChange = { organizationId, events: [], cache: new Map() }
    const result = await runPart({ ...tx, open }, open, work)
    await appendEvents(tx, organizationId, open.events)
    return result
  }
  return transaction(ctx, runAll, timeoutMs)
}

/** Reads a value that no part of a change alters once per change; outside a change, on each call. */
export function readOnce<T>({ open }: Pick<Context, 'open'>, key: string, read: () => Promise<T>): Promise<T> {
  // All values under one key come from the same function.
  const cached = open?.cache.get(key) as Promise<T> | undefined
  const value = cached ?? read()
  open?.cache.set(key, value)
  return value
}

async function runPart<T>(
  ctx: Context,
  open: OpenChange,
  work: (ctx: Context) => Promise<ChangeResult<T>>,
): Promise<T> {
  const [result, ...events] = await work(ctx)
  open.events.push(...events)
  return result
}
