import { z } from 'zod'
import { requireConfirmation, requireOwnOrganization, requireScope } from '../../core/access.ts'
import type { Context, Database } from '../../core/context.ts'
import { Conflict, NotFound } from '../../core/errors.ts'
import { hashSecret } from '../../core/hash-secret.ts'
import { newId, randomText, typeOfId } from '../../core/id.ts'
import { invalid, nameText, validate } from '../../core/validation.ts'
import type { ChangeContext, ChangeResult } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { ApiKey, Prisma, Scope } from '../../generated/prisma/client.ts'
import { personBehind } from '../actor-name.ts'
import type { KeyCache } from './known-keys.ts'

/** The prefix of every API key. */
export const KEY_PREFIX = 'ac_'

/** The maximum number of keys that are listed of a person. */
const MAX_KEYS_OF_PERSON = 100

/** The most keys of an organization that work, and that do not any more; older ones of these are deleted. */
export const MAX_KEYS = 500
export const MAX_ENDED_KEYS = 1000

/** A new key. `secret` is the whole key. It is not stored, so it can only be shown now. */
export interface CreatedApiKey {
  readonly secret: string
  readonly apiKey: ApiKey
}

const newKey = z.object({
  name: nameText,
  scope: z.enum(['READ', 'WRITE', 'ADMIN']),
  expiresAt: z.date().nullish(),
  organizationId: z.string().nullish(),
})

/**
 * Creates a key for the caller's organization. Requires a key with scope ADMIN.
 * @throws Invalid when the name is blank or too long, or the expiry is not in the future.
 * @throws Conflict when the organization has as many keys as it may have.
 */
export async function createApiKey(ctx: ChangeContext, input: unknown): Promise<CreatedApiKey> {
  const organizationId = requireScope(ctx, 'ADMIN')
  requireConfirmation(ctx)
  const { name, scope, expiresAt, organizationId: named } = validate(newKey, input)
  requireOwnOrganization(named, organizationId)
  if (expiresAt && expiresAt <= ctx.now()) {
    throw invalid([{ path: ['expiresAt'], message: 'must be in the future' }])
  }
  return change(ctx, organizationId, async (tx) => {
    const key = { organizationId, name, scope, expiresAt: expiresAt ?? null, createdAt: tx.now() }
    await makeRoom(tx, organizationId)
    const created = await insertApiKey(tx, key)
    return [created, { kind: 'API_KEY_CREATED', ...subject(created.apiKey) }]
  })
}

/** Deletes the oldest keys that do not work any more, if there are too many. @throws Conflict if too many work. */
async function makeRoom({ db, now }: Pick<Context, 'db' | 'now'>, organizationId: string): Promise<void> {
  if ((await db.apiKey.count({ where: { organizationId, ...usableAt(now()) } })) >= MAX_KEYS)
    throw new Conflict(`An organization can have at most ${MAX_KEYS} API keys that work. Revoke some first.`)
  const ended = await db.apiKey.findMany({
    where: { organizationId, NOT: usableAt(now()) },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    skip: MAX_ENDED_KEYS - 1,
    select: { id: true },
  })
  if (ended.length > 0) await db.apiKey.deleteMany({ where: { id: { in: ended.map(({ id }) => id) } } })
}

/** Selects keys that work. */
const usableAt = (at: Date) => ({ revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: at } }] })

/**
 * The database notification that announces revoked keys, by their id, and organizations whose keys have a new check plan, by the
 * organization's id.
 */
export const REVOKED_KEY_NOTIFICATION = 'revoked_api_key'

/** Announces, when the transaction commits, that a key was revoked or that an organization's keys have a new check plan. */
export async function announceKeys(db: Database, id: string): Promise<void> {
  await db.$executeRaw`SELECT pg_notify(${REVOKED_KEY_NOTIFICATION}, ${id})`
}

/**
 * Revokes a key of the caller's organization immediately, on every instance. Requires a key with scope ADMIN. Revoking a key twice
 * changes nothing.
 * @throws NotFound when the organization has no key with this id. @throws Conflict for the last key with scope ADMIN, unless
 * `force` is set or the caller is the operator.
 */
export async function revokeApiKey(
  ctx: ChangeContext & KeyCache,
  id: string,
  { force = false }: { readonly force?: boolean } = {},
): Promise<ApiKey> {
  const organizationId = requireScope(ctx, 'ADMIN')
  requireConfirmation(ctx)
  const revocation = change(ctx, organizationId, async ({ db, now }): Promise<ChangeResult<ApiKey>> => {
    const key = await findApiKey({ db }, organizationId, id)
    if (key.revokedAt) return [key]
    if (!force && ctx.actor.kind === 'apiKey' && (await isLastAdmin(db, key, now()))) {
      throw new Conflict('This is the last key with scope ADMIN. Create another one first, or set force.')
    }
    const revoked = await db.apiKey.update({ where: { id }, data: { revokedAt: now() } })
    await announceKeys(db, id)
    return [revoked, { kind: 'API_KEY_REVOKED', ...subject(revoked) }]
  })
  return revocation.finally(() => ctx.knownKeys?.forget(id))
}

async function isLastAdmin(
  db: Database,
  { id, organizationId, scope, expiresAt }: ApiKey,
  now: Date,
): Promise<boolean> {
  if (scope !== 'ADMIN' || (expiresAt !== null && expiresAt <= now)) return false
  const others = { organizationId, scope, revokedAt: null, id: { not: id } }
  const usable = { ...others, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] }
  return (await db.apiKey.findFirst({ where: usable, select: { id: true } })) === null
}

/** A key with the person who created it; null: none is known. */
export type ListedApiKey = ApiKey & { readonly createdBy: { readonly id: string; readonly name: string } | null }

/** Returns the newest keys of an organization, including revoked ones. The caller checks permissions. */
export function listApiKeys(
  { db }: Pick<Context, 'db'>,
  organizationId: string,
  limit: number,
): Promise<ListedApiKey[]> {
  return db.apiKey.findMany({
    where: { organizationId },
    include: { createdBy: { select: { id: true, name: true } } },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit,
  })
}

/** Returns the keys that `usableKeysOf` selects. */
export function usableKeys(
  ctx: Pick<Context, 'db' | 'now'>,
  organizationId: string,
  createdById: string,
): Promise<ApiKey[]> {
  return ctx.db.apiKey.findMany(usableKeysOf(ctx, organizationId, createdById))
}

/** Returns the first key of an organization, which exists unless an operator made it without one. */
export function firstApiKey({ db }: Pick<Context, 'db'>, organizationId: string): Promise<ApiKey> {
  return db.apiKey.findFirstOrThrow({ where: { organizationId }, orderBy: { createdAt: 'asc' } })
}

/**
 * Returns the query for the keys of an organization that a person created, directly or by one of those keys, and that still work;
 * newest first. The caller checks permissions.
 */
export function usableKeysOf({ now }: Pick<Context, 'now'>, organizationId: string, createdById: string) {
  return {
    where: { organizationId, createdById, ...usableAt(now()) },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: MAX_KEYS_OF_PERSON,
  } satisfies Prisma.ApiKeyFindManyArgs
}

/** Returns a key of an organization. The caller checks permissions. @throws NotFound when the organization has no such key. */
export async function findApiKey({ db }: Pick<Context, 'db'>, organizationId: string, id: string): Promise<ApiKey> {
  const key = typeOfId(id) === 'ApiKey' ? await db.apiKey.findUnique({ where: { id, organizationId } }) : null
  if (key === null) throw new NotFound('API key not found.')
  return key
}

/** Inserts a key, with the person behind it. The caller checks permissions. */
export async function insertApiKey(
  ctx: Pick<Context, 'db' | 'actor'>,
  key: { organizationId: string; name: string; scope: Scope; expiresAt: Date | null; createdAt: Date },
): Promise<CreatedApiKey> {
  const prefix = `${KEY_PREFIX}${randomText(8)}`
  const secret = `${prefix}${randomText(32)}`
  const createdById = await personBehind(ctx)
  const data = { id: newId('ApiKey'), ...key, prefix, hash: hashSecret(secret), createdById }
  const apiKey = await ctx.db.apiKey.create({ data })
  return { secret, apiKey }
}

const subject = ({ id, name }: ApiKey) => ({ subjectId: id, subjectName: name })
