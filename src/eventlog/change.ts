import type { Context } from '../context.ts'
import { transaction } from '../context.ts'
import { NotFound } from '../errors.ts'
import type { NewEvent } from './event.ts'
import { append } from './event.ts'

/** What a change gives, and then what has happened by it, in order. */
export type Changed<T> = readonly [result: T, ...events: NewEvent[]]

/** A change under way: changes of the same organization inside it are part of it. */
export interface OpenChange {
  readonly organizationId: string
  /** What has happened so far; it is appended to the log at the end. */
  readonly events: NewEvent[]
  /** What was read once for all its parts, by what it is. */
  readonly known: Map<string, Promise<unknown>>
}

/**
 * Makes a change to an organization: one transaction, at whose end the events that `work` gives are appended to the log.
 * Changes to one organization run one at a time, in all processes together, because its row is locked first: what
 * `work` reads stays true until the commit, and no two changes can wait for each other. A change inside another one of the
 * same organization is part of it: it locks nothing again, and its events go with the others.
 * @param longest how many milliseconds it may take; absent: as long as any.
 * @throws NotFound when there is no such organization.
 */
export function change<T>(
  ctx: Context,
  organizationId: string,
  work: (ctx: Context) => Promise<Changed<T>>,
  longest?: number,
): Promise<T> {
  if (ctx.open?.organizationId === organizationId) return part(ctx, ctx.open, work)
  const whole = async (tx: Context) => {
    const [locked] = await tx.db.$queryRaw<{ deletedAt: Date | null }[]>`
      SELECT "deletedAt" FROM "Organization" WHERE id = ${organizationId} FOR NO KEY UPDATE`
    // A key that held a moment ago may do nothing any more, while payments and the operator still reach what is deleted.
    if (!locked || (locked.deletedAt !== null && ctx.actor.kind === 'apiKey'))
      throw new NotFound('There is no such organization.')
    const open: OpenChange = { organizationId, events: [], known: new Map() }
    const result = await part({ ...tx, open }, open, work)
    await append(tx, organizationId, open.events)
    return result
  }
  return transaction(ctx, whole, longest)
}

/** Reads once for all parts of a change what none of them alters; outside a change, each time. */
export function readOnce<T>({ open }: Pick<Context, 'open'>, what: string, read: () => Promise<T>): Promise<T> {
  // Whatever was read under a name was read by the same function.
  const known = open?.known.get(what) as Promise<T> | undefined
  const found = known ?? read()
  open?.known.set(what, found)
  return found
}

async function part<T>(ctx: Context, open: OpenChange, work: (ctx: Context) => Promise<Changed<T>>): Promise<T> {
  const [result, ...events] = await work(ctx)
  open.events.push(...events)
  return result
}
