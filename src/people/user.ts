import { z } from 'zod'
import type { Context, Database } from '../core/context.ts'
import { emailAddress } from '../core/email-address.ts'
import { Conflict } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { signInLimits } from '../core/input-limits.ts'
import { nameText } from '../core/validation.ts'
import type { User } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { Entry } from './account-entry.ts'
import { outcomeOf } from './account-entry.ts'
import { newPassword } from './password.ts'

/** An email address that identifies a person: without surrounding spaces, in lower case. */
export const personEmail = z
  .string()
  .max(signInLimits.email.most, { abort: true, error: 'must have at most 254 characters' })
  .trim()
  .toLowerCase()
  .pipe(emailAddress)

/** A form that asks for an email address. */
export const emailInput = z.object({ email: personEmail })

/** The input of a new person. */
export const newPerson = z.object({ email: personEmail, name: nameText, password: newPassword })

/**
 * Inserts a person who comes by an entry.
 * @throws Conflict when the email address is taken, or the entry leads to no new account.
 */
export async function insertUser(
  { db, now }: Pick<Context, 'db' | 'now'>,
  entry: Entry,
  user: Pick<User, 'email' | 'name' | 'passwordHash'> & { readonly isOperator?: boolean },
): Promise<User> {
  const outcome = outcomeOf(entry, 'NONE')
  if (outcome.kind !== 'enters') throw accountExists()
  const createdAt = now()
  const emailProvenAt = outcome.state === 'PROVEN' ? createdAt : null
  try {
    return await db.user.create({ data: { id: newId('User'), ...user, emailProvenAt, createdAt } })
  } catch (error) {
    if (!(error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002')) throw error
    throw accountExists()
  }
}

/** Creates the error for an address whose account must be signed in to. */
export function accountExists(): Conflict {
  return new Conflict('A person with this email address already has an account. Sign in instead.')
}

/** Returns the person with this email address; null: none. */
export function userByEmail({ db }: Pick<Context, 'db'>, email: string): Promise<User | null> {
  return db.user.findUnique({ where: { email } })
}

/** Returns the names of people, by id. */
export async function namesOfPeople(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = await db.user.findMany({ where: { id: { in: [...ids] } }, select: { id: true, name: true } })
  return new Map(found.map(({ id, name }) => [id, name]))
}

/** Locks a person until the end of the transaction, so that concurrent calls about them wait. */
export async function lockPerson(db: Database, id: string): Promise<void> {
  await db.$queryRaw`SELECT id FROM "User" WHERE id = ${id} FOR UPDATE`
}

/** The fields of an account that its person can see. */
export type Person = Pick<User, 'id' | 'email' | 'emailProvenAt' | 'name' | 'isOperator'>

const personFields = { id: true, email: true, emailProvenAt: true, name: true, isOperator: true } as const

/** Returns the person with this id; null: the account was deleted. */
export function findPerson({ db }: Pick<Context, 'db'>, id: string): Promise<Person | null> {
  return db.user.findUnique({ where: { id }, select: personFields })
}

/** Returns the account with this id, with its secrets; null: it was deleted. */
export function userById({ db }: Pick<Context, 'db'>, id: string): Promise<User | null> {
  return db.user.findUnique({ where: { id } })
}

/** Returns the person with this id, which must exist. */
export function readPerson({ db }: Pick<Context, 'db'>, id: string): Promise<Person> {
  return db.user.findUniqueOrThrow({ where: { id }, select: personFields })
}
