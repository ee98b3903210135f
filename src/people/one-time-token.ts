import { randomBytes } from 'node:crypto'
import type { Context } from '../core/context.ts'
import type { CountDeleted } from '../core/deleted-rows.ts'
import { DELETE_BATCH, uncounted } from '../core/deleted-rows.ts'
import { hashSecret } from '../core/hash-secret.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { TokenPurpose } from '../generated/prisma/enums.ts'

/** The content of a one-time token. */
export interface TokenContent {
  readonly userId: string | null
  readonly data: Prisma.JsonValue
}

/** Returns 256 random bits as text for URLs and cookies. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Creates a token that works once within `lifetimeMs`, and returns it. The database stores only its hash. */
export async function createToken(
  { db, now }: Pick<Context, 'db' | 'now'>,
  purpose: TokenPurpose,
  {
    userId = null,
    data = {},
    lifetimeMs,
  }: { readonly userId?: string | null; readonly data?: Prisma.InputJsonValue; readonly lifetimeMs: number },
): Promise<string> {
  const token = newSecret()
  const createdAt = now()
  const expiresAt = new Date(createdAt.getTime() + lifetimeMs)
  await db.oneTimeToken.create({ data: { hash: hashSecret(token), purpose, userId, data, createdAt, expiresAt } })
  return token
}

/** Uses up a token and returns its content; null: it is unknown, expired, used or has another purpose. */
export async function takeToken(
  { db, now }: Pick<Context, 'db' | 'now'>,
  purpose: TokenPurpose,
  token: string,
): Promise<TokenContent | null> {
  const [taken] = await db.$queryRaw<TokenContent[]>`
    DELETE FROM "OneTimeToken" WHERE hash = ${hashSecret(token)} AND purpose = ${purpose}::"TokenPurpose"
      AND "expiresAt" > ${now()}::timestamptz RETURNING "userId", data`
  return taken ?? null
}

/** Returns the content of a token without using it up; null like `takeToken`. */
export async function readToken(
  { db, now }: Pick<Context, 'db' | 'now'>,
  purpose: TokenPurpose,
  token: string,
): Promise<TokenContent | null> {
  const where = { hash: hashSecret(token), purpose, expiresAt: { gt: now() } }
  return db.oneTimeToken.findFirst({ where, select: { userId: true, data: true } })
}

/** Deletes a batch of tokens, sessions and invitations that have expired. Returns whether there may be more. */
export async function deleteExpired(
  { db, now }: Pick<Context, 'db' | 'now'>,
  count: CountDeleted = uncounted,
): Promise<boolean> {
  let most = 0
  for (const table of ['OneTimeToken', 'Session', 'Invitation']) {
    const name = Prisma.raw(`"${table}"`)
    const deleted = await db.$executeRaw`
      DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${name} WHERE "expiresAt" < ${now()} LIMIT ${DELETE_BATCH}))`
    count(table, deleted)
    most = Math.max(most, deleted)
  }
  return most >= DELETE_BATCH
}
