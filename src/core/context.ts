import type { Logger } from 'pino'
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts'
import type { CheckPlan, Role, Scope } from '../generated/prisma/enums.ts'
import type { Config } from './config.ts'
import type { Claim } from './idempotency.ts'
import type { Clock } from './time.ts'

/** A signed-in person. */
export interface SignedInUser {
  readonly kind: 'user'
  readonly userId: string
  readonly sessionId: string
  /** Whether the person may act as the operator. */
  readonly isOperator: boolean
  /** When the person last confirmed their identity, with a password or a passkey. */
  readonly confirmedAt: Date
  /** The person's role in each organization, by id. */
  readonly memberships: ReadonlyMap<string, Membership>
  /** The organization of `memberships` that the person acts in; absent: none is selected. */
  readonly organizationId?: string
}

/** A person's rights in an organization. */
export interface Membership {
  readonly role: Role
  /** The organization's check plan when the membership was read. */
  readonly checkPlan: CheckPlan
}

/** The actor of a call. A caller without a key is a visitor; our own jobs are the system. */
export type Actor =
  | { readonly kind: 'visitor' }
  | {
      readonly kind: 'apiKey'
      readonly keyId: string
      readonly organizationId: string
      readonly scope: Scope
      /** The organization's check plan when the key was read. */
      readonly checkPlan: CheckPlan
    }
  | SignedInUser
  | {
      readonly kind: 'operator'
      /** The person who acts as the operator; absent: the operator's token. */
      readonly userId?: string
      /** When that person last confirmed their identity. */
      readonly confirmedAt?: Date
      /** The organization that the operator acts for; absent: none. */
      readonly organizationId?: string
    }
  | { readonly kind: 'system' }

/** Runs plain SQL, as Prisma does. */
export interface RawSql {
  /** Runs a statement and returns its rows. */
  $queryRaw<T = unknown>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<T>
  /** Runs a statement and returns how many rows it changed. */
  $executeRaw(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<number>
  $queryRawUnsafe<T = unknown>(text: string, ...values: unknown[]): Promise<T>
  $executeRawUnsafe(text: string, ...values: unknown[]): Promise<number>
}

/** A Prisma client, or the client of an open transaction (`database/transaction.ts`), which has no `$connect`. */
export interface Database extends Omit<Prisma.TransactionClient, keyof RawSql>, RawSql {
  readonly $connect?: PrismaClient['$connect']
  /** Sends a statement without waiting for it; if it fails, so does the transaction. Absent: there is none. */
  readonly $sendRaw?: (statement: Prisma.Sql) => void
  /** Resolves once the transaction has begun. Absent: there is none. */
  readonly $begun?: Promise<unknown>
}

/** Returns whether a client belongs to an open transaction. */
export function inTransaction(db: Pick<Database, '$connect'>): boolean {
  return db.$connect === undefined
}

/** The address of a caller, for decisions about what networks may read. Limits count `Context.clientAddress`. */
export interface AccessAddress {
  readonly address: string
  /**
   * The name by which the caller reached the service; null: one of its own names or addresses. The owner of any other
   * name can lead browsers here that have opened a page of theirs (DNS rebinding), so the address only gives access to
   * the page whose custom domain it is.
   */
  readonly host: string | null
}

/** What every domain function gets: database, actor, clock, log. A room that needs more names it in a type of its own. */
export interface Context {
  readonly config: Config
  readonly db: Database
  readonly actor: Actor
  /** The caller's address according to `http/request/client-address.ts`; null for our own jobs. */
  readonly clientAddress: string | null
  /** The caller's address, as far as it may give rights; null or absent: it gives none. */
  readonly accessAddress?: AccessAddress | null | undefined
  /** Its signal aborts when the caller disconnects. The signal is created on first use, because that is slow. */
  readonly cancellation?: { readonly signal: Pick<AbortSignal, 'aborted'> } | undefined
  readonly now: Clock
  readonly log: Logger
  /** The idempotency key that the first transaction claims; absent: none. */
  readonly claim?: Claim | undefined
  /** What to do once the open transaction has ended (`afterTransaction`); absent: none is open. */
  readonly afterwards?: (() => void)[] | undefined
}

/** The maximum attempts of a transaction that fails because of concurrent writes. */
const MAX_ATTEMPTS = 3

/**
 * Runs `work` in one transaction, or in the caller's open one. Inside, use only the context passed to `work`: the
 * embedded database has one connection, so a statement on the outer context would wait for this transaction. When the
 * database aborts it to resolve a deadlock, `work` runs again, so all its effects must roll back.
 * @param timeoutMs the time limit; absent: the default.
 */
export async function transaction<C extends Pick<Context, 'db' | 'claim'>, T>(
  ctx: C,
  work: (ctx: C) => Promise<T>,
  timeoutMs?: number,
): Promise<T> {
  const { db } = ctx
  if (inTransaction(db)) return work(ctx)
  const options = timeoutMs === undefined ? {} : { timeout: timeoutMs }
  const afterwards: (() => void)[] = []
  try {
    return await repeatOnConflict(() =>
      db.$transaction((client) => runClaimed({ ...ctx, db: client, afterwards }, work), options),
    )
  } finally {
    for (const finish of afterwards) finish()
  }
}

/**
 * Calls `finish` once the open transaction has ended, or immediately if none is open. Also after a failed one, because
 * its commit may have succeeded all the same. `finish` must not throw.
 */
export function afterTransaction({ afterwards }: Pick<Context, 'afterwards'>, finish: () => void): void {
  if (afterwards) afterwards.push(finish)
  else finish()
}

/** Runs a transaction, and again if the database aborts it because of concurrent writes. */
async function repeatOnConflict<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isWriteConflict(error)) throw error
    }
  }
}

/** Runs the work of a transaction and claims the caller's idempotency key in it, if any. */
async function runClaimed<C extends Pick<Context, 'db' | 'claim'>, T>(
  ctx: C,
  work: (ctx: C) => Promise<T>,
): Promise<T> {
  const { claim, db } = ctx
  if (!claim) return work(ctx)
  // The claim writes, so the transaction must have begun.
  await db.$begun
  await claim.begin(db)
  const result = await work({ ...ctx, claim: undefined })
  await claim.end(db, result)
  return result
}

/**
 * Returns whether a statement failed because of concurrent writes: PostgreSQL's 40001 and 40P01, Prisma's P2034, or its
 * counterpart for raw queries (P2010).
 */
function isWriteConflict(error: unknown): boolean {
  const { code, meta } = error as { code?: string; meta?: { driverAdapterError?: { cause?: { kind?: string } } } }
  if (code === 'P2034' || code === '40001' || code === '40P01') return true
  return meta?.driverAdapterError?.cause?.kind === 'TransactionWriteConflict'
}
