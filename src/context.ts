import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { OpenChange } from './eventlog/change.ts'
import type { Prisma, PrismaClient } from './generated/prisma/client.ts'
import type { CheckPlan, Scope } from './generated/prisma/enums.ts'
import type { Claim } from './idempotency.ts'
import type { Clock } from './time.ts'

/** Who is acting. Never null: a caller without a key is a visitor, our own work is the system. */
export type Actor =
  | { readonly kind: 'visitor' }
  | {
      readonly kind: 'apiKey'
      readonly keyId: string
      readonly organizationId: string
      readonly scope: Scope
      /** The organization's check plan at the time the key was read. */
      readonly checkPlan: CheckPlan
    }
  | {
      readonly kind: 'operator'
      /** The organization that the operator acts for; absent: none is named. */
      readonly organizationId?: string
    }
  | { readonly kind: 'system' }

/** A Prisma client, or the client of a transaction that is open: that one cannot connect. */
export type Database = Prisma.TransactionClient & Partial<Pick<PrismaClient, '$connect'>>

/** Whether a client is that of an open transaction. */
export function inTransaction(db: Database): boolean {
  return db.$connect === undefined
}

/** What every domain function is given: where to read and write, for whom, at what time. */
export interface Context {
  readonly config: Config
  readonly db: Database
  readonly actor: Actor
  /** The caller's address as `http/client-address.ts` believes it; null for our own work. */
  readonly clientAddress: string | null
  /** Its signal is aborted once the caller has stopped waiting; an `AbortSignal`, which costs, is made when first asked for. */
  readonly leaving?: { readonly signal: Pick<AbortSignal, 'aborted'> } | undefined
  readonly now: Clock
  readonly log: Logger
  /** The change of an organization in whose transaction this is; absent: none. */
  readonly open?: OpenChange | undefined
  /** The idempotency key that the first transaction takes; absent: none. */
  readonly claim?: Claim | undefined
}

/** How often a transaction is tried that the database ends because others wrote at the same time. */
const ATTEMPTS = 3

/**
 * Runs `work` in one transaction, or in the caller's when one is open already. Use only the context it is given inside:
 * the embedded database serves one connection, so a statement outside would wait for this transaction to end. When the
 * database ends it to resolve a deadlock, `work` is run again: let it do nothing that a rollback does not undo.
 * @param longest how many milliseconds it may take; absent: as long as any.
 */
export async function transaction<C extends Context, T>(
  ctx: C,
  work: (ctx: C) => Promise<T>,
  longest?: number,
): Promise<T> {
  const { db } = ctx
  if (inTransaction(db)) return work(ctx)
  for (let attempt = 1; ; attempt++) {
    try {
      const options = longest === undefined ? {} : { timeout: longest }
      return await db.$transaction((client) => claimed({ ...ctx, db: client }, work), options)
    } catch (error) {
      if (attempt === ATTEMPTS || !isWriteConflict(error)) throw error
    }
  }
}

/** Does the work of a transaction, and takes the caller's idempotency key in it, if there is one. */
async function claimed<C extends Context, T>(ctx: C, work: (ctx: C) => Promise<T>): Promise<T> {
  const { claim, db } = ctx
  if (!claim) return work(ctx)
  await claim.begin(db)
  const result = await work({ ...ctx, claim: undefined })
  await claim.end(db, result)
  return result
}

/** Whether a statement lost against others: Prisma's P2034, or what a raw query (P2010) has in its place. */
function isWriteConflict(error: unknown): boolean {
  const { code, meta } = error as { code?: string; meta?: { driverAdapterError?: { cause?: { kind?: string } } } }
  return code === 'P2034' || meta?.driverAdapterError?.cause?.kind === 'TransactionWriteConflict'
}
