import type { Context } from '../core/context.ts'
import { Unauthenticated } from '../core/errors.ts'
import type { User } from '../generated/prisma/client.ts'
import type { AccountState, Entry } from './account-entry.ts'
import { outcomeOf } from './account-entry.ts'
import type { SessionCache } from './context.ts'
import { endSessions, requireUser } from './session.ts'
import { accountExists } from './user.ts'

/** Returns what is known of the address of an account; null: there is no account. */
export function stateOf(user: Pick<User, 'emailProvenAt'> | null): AccountState {
  if (user === null) return 'NONE'
  return user.emailProvenAt === null ? 'UNPROVEN' : 'PROVEN'
}

/** An account as it was when its person gave a credential. */
export type ReadAccount = Pick<User, 'id' | 'generation' | 'passwordHash'>

/**
 * Locks an account until the end of the transaction.
 * @throws Unauthenticated when its password has changed since it was read, or everything that gave access to it was dropped: an
 * answer to an earlier credential must not outlive that.
 */
export async function lockUnchanged(tx: Context, { id, generation, passwordHash }: ReadAccount): Promise<User> {
  const user = await lockUser(tx, id)
  if (user.generation === generation && user.passwordHash === passwordHash) return user
  throw new Unauthenticated('WRONG_CREDENTIALS', 'The account has changed in the meantime. Sign in again.')
}

/**
 * Locks the caller's account until the end of the transaction. What gives access to an account is only added under this lock: a
 * request that began before everything was dropped must not add anything afterwards.
 * @throws Unauthenticated when the session has ended.
 */
export async function lockOwnAccount(tx: Context): Promise<User> {
  const { userId, sessionId } = requireUser(tx)
  const user = await lockUser(tx, userId)
  // Not in the statement that waits for the lock, which would still see a session that has ended in the meantime.
  const session = await tx.db.session.findUnique({ where: { id: sessionId, userId }, select: { id: true } })
  if (session !== null) return user
  throw new Unauthenticated('UNAUTHENTICATED', 'Your session has ended. Sign in again.')
}

async function lockUser({ db }: Context, id: string): Promise<User> {
  await db.$queryRaw`SELECT id FROM "User" WHERE id = ${id} FOR NO KEY UPDATE`
  return db.user.findUniqueOrThrow({ where: { id } })
}

/**
 * Lets a person in by an entry, in the caller's transaction: drops what must lose access, and records what is then known of the
 * address. Returns the account. The caller starts the session.
 * @param changes `passwordHash`: the new password. If everything is dropped and no password is given, the account has none.
 * @throws Conflict when the entry does not lead into the account.
 */
export async function enterAccount(
  tx: Context & SessionCache,
  { id }: Pick<User, 'id'>,
  entry: Entry,
  changes: { readonly passwordHash?: string; readonly name?: string } = {},
): Promise<User> {
  const before = await lockUser(tx, id)
  const outcome = outcomeOf(entry, stateOf(before))
  if (outcome.kind !== 'enters') throw accountExists()
  const { state, drops } = outcome
  const emailProvenAt = state === 'UNPROVEN' ? null : (before.emailProvenAt ?? tx.now())
  if (drops === 'EVERYTHING') await dropCredentials(tx, before)
  if (drops !== 'NOTHING') await dropSessions(tx, id)
  return tx.db.user.update({ where: { id }, data: { ...changes, emailProvenAt } })
}

async function dropCredentials({ db, log }: Context, { id, generation }: User): Promise<void> {
  const none = { passwordHash: null, totpSecret: null, totpEnabled: false, totpStep: null }
  await db.user.update({ where: { id }, data: { ...none, generation: generation + 1 } })
  const where = { userId: id }
  await db.passkey.deleteMany({ where })
  await db.identity.deleteMany({ where })
  await db.recoveryCode.deleteMany({ where })
  log.info({ user: id }, 'people: dropped everything that gave access to an account')
}

async function dropSessions(tx: Context & SessionCache, userId: string): Promise<void> {
  await tx.db.oneTimeToken.deleteMany({ where: { userId } })
  await endSessions(tx, { userId })
}
