import type { Context, RawSql, SignedInUser } from '../core/context.ts'
import { transaction } from '../core/context.ts'
import { NotFound, Unauthenticated } from '../core/errors.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { NewEvent } from './event.ts'
import { appendEvents, keyIdOf } from './event.ts'
import { logOwner } from './log-owner.ts'

/** The result of a change, followed by its events in order. */
export type ChangeResult<T> = readonly [result: T, ...events: NewEvent[]]

/** A running change. Nested changes of the same organization are part of it. */
interface OpenChange {
  readonly organizationId: string
  /** The events so far. They are appended to the log at the end. */
  readonly events: NewEvent[]
  /** Values that all parts of the change share, by key (`readOnce`). */
  readonly cache: Map<string, Promise<unknown>>
}

/** What a change of an organization needs. */
export interface ChangeContext extends Context {
  /** The change whose transaction this context belongs to; absent: there is none. */
  readonly open?: OpenChange | undefined
  /** Called after the commit of a change, before the notification of its event log arrives; absent: no callback. */
  readonly onChanged?: ((organizationId: string, events: readonly Pick<NewEvent, 'kind'>[]) => void) | undefined
}

/**
 * Changes an organization in one transaction, and appends the events that `work` returns to its log. The transaction
 * locks the organization's row first, so that changes to one organization run one at a time across all processes: data
 * that `work` reads does not change until the commit, and changes cannot deadlock. A nested change of the same
 * organization joins the outer one: it takes no lock, and its events are appended with the others.
 * @throws NotFound when the organization does not exist.
 * @throws Unauthenticated when the caller's key was revoked.
 */
export function change<C extends ChangeContext, T>(
  ctx: C,
  organizationId: string,
  work: (ctx: C) => Promise<ChangeResult<T>>,
  { timeoutMs, isPipelined = false }: ChangeOptions = {},
): Promise<T> {
  if (ctx.open?.organizationId === organizationId) return runPart(ctx, ctx.open, work)
  return committed(ctx, organizationId, (note) =>
    transaction(ctx, (tx) => runWhole(tx, { organizationId, note, isPipelined }, work), timeoutMs),
  )
}

/** How a change runs. */
interface ChangeOptions {
  /** The time limit of the transaction, in milliseconds; absent: the default limit. */
  readonly timeoutMs?: number
  /**
   * Whether `work` starts before the lock is taken, so that its first statements are sent with it, for frequent changes.
   * It must send plain SQL first, and the time that it reads from the clock may be that before the lock.
   */
  readonly isPipelined?: boolean
}

type NoteEvents = (events: readonly NewEvent[]) => void

/** Runs a transaction, possibly in several attempts, and reports the events of the last one after the commit. */
async function committed<T>(
  { onChanged }: Pick<ChangeContext, 'onChanged'>,
  organizationId: string,
  run: (note: NoteEvents) => Promise<T>,
): Promise<T> {
  let last: readonly NewEvent[] = []
  const result = await run((events) => {
    last = events
  })
  onChanged?.(organizationId, last)
  return result
}

async function runWhole<C extends Context, T>(
  tx: C,
  { organizationId, note, isPipelined }: { organizationId: string; note: NoteEvents; isPipelined: boolean },
  work: (ctx: C) => Promise<ChangeResult<T>>,
): Promise<T> {
  const locked = lock(tx, organizationId)
  const open: OpenChange = { organizationId, events: [], cache: new Map() }
  const own = isPipelined ? behindLock(tx, locked) : await locked.then(() => tx)
  // A failed lock refuses the caller. Its error takes precedence over one of `work`.
  const result = await runPart({ ...own, open }, open, work).catch((error: unknown) => locked.then(() => reject(error)))
  await locked
  await appendEvents(tx, organizationId, open.events)
  note(open.events)
  return result
}

const reject = (error: unknown) => Promise.reject(error)

/** Sends statements without waiting for the lock, and returns their rows once the lock has succeeded. */
function behindLock<C extends Context>(tx: C, locked: Promise<void>): C {
  locked.catch(() => {})
  const { db } = tx
  const after = async <T>(rows: Promise<T>): Promise<T> => {
    rows.catch(() => {})
    await locked
    return rows
  }
  const $queryRaw: RawSql['$queryRaw'] = (query, ...values) => after(db.$queryRaw(query, ...values))
  return { ...tx, db: Object.create(db, { $queryRaw: { value: $queryRaw } }) }
}

/**
 * Locks an organization's row until the end of the transaction.
 * @throws NotFound and Unauthenticated like `change`.
 */
async function lock({ db, actor }: Context, organizationId: string): Promise<void> {
  const { sessionId = null, role = null } = actor.kind === 'user' ? sessionIn(actor, organizationId) : {}
  const owner = logOwner.get()
  const isRevoked = Prisma.sql`${owner.isKeyRevoked(keyIdOf(actor))} OR ${owner.isSessionOver(sessionId, organizationId, role)} AS "isRevoked"`
  const [organization] = await db.$queryRaw<{ deletedAt: Date | null; isRevoked: boolean }[]>(
    owner.lock(organizationId, isRevoked),
  )
  // API keys and members lose access to a deleted organization at once. Payments and the operator keep theirs.
  if (!organization || (organization.deletedAt !== null && (actor.kind === 'apiKey' || actor.kind === 'user')))
    throw new NotFound('Organization not found.')
  // Keys and sessions are cached briefly, so a revoked one may get this far. It must not change anything.
  if (!organization.isRevoked) return
  if (actor.kind === 'user')
    throw new Unauthenticated('UNAUTHENTICATED', 'Your session has ended or your role has changed. Sign in again.')
  throw new Unauthenticated('INVALID_API_KEY', 'This API key was revoked.')
}

/** Returns the session and the role that a person must still have to change an organization. */
function sessionIn({ sessionId, memberships }: SignedInUser, organizationId: string) {
  return { sessionId, role: memberships.get(organizationId)?.role }
}

/** Reads a value that no part of a change modifies: once per change, or on each call outside a change. */
export function readOnce<T>({ open }: Pick<ChangeContext, 'open'>, key: string, read: () => Promise<T>): Promise<T> {
  // All values under one key come from the same function.
  const cached = open?.cache.get(key) as Promise<T> | undefined
  const value = cached ?? read()
  open?.cache.set(key, value)
  return value
}

async function runPart<C extends Context, T>(
  ctx: C,
  open: OpenChange,
  work: (ctx: C) => Promise<ChangeResult<T>>,
): Promise<T> {
  const [result, ...events] = await work(ctx)
  open.events.push(...events)
  return result
}
