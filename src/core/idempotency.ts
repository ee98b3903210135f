import { createHash } from 'node:crypto'
import type { Prisma } from '../generated/prisma/client.ts'
import { organizationOf } from './access.ts'
import type { Context, Database } from './context.ts'
import type { CountDeleted } from './deleted-rows.ts'
import { DELETE_BATCH, uncounted } from './deleted-rows.ts'
import { Conflict, type DomainError, Invalid, NotFound, RateLimited, TierLimitReached } from './errors.ts'
import { typeOfId } from './id.ts'
import { clientSubject } from './ip-address.ts'
import type { Outcome } from './outcome.ts'
import { awaitOutcome, isRefused } from './outcome.ts'
import { DAY } from './time.ts'
import { invalid } from './validation.ts'

/** A request with the idempotency key that the caller chose. */
export interface IdempotentRequest {
  /** The name of the operation; the same key with another operation or input is a conflict. */
  readonly operation: string
  readonly input: unknown
  /** Null or absent: every request is executed. */
  readonly key: string | null | undefined
  /** The index of the transaction, for requests that need several. */
  readonly part?: number
}

/**
 * Serializes answers for storage and restores them. `Effect` is the result of the transaction that makes the change.
 */
export interface AnswerSerializer<T, Effect = T> {
  /** Returns the answer to store; null: nothing was changed, so the key becomes free again. */
  serialize(effect: Effect): Prisma.InputJsonValue | null
  /** Returns the stored answer; null: it had no lasting effect, so the request is executed again. */
  restore(kept: Prisma.JsonValue): Promise<{ readonly value: T } | null>
}

/** Claims a key in the outermost transaction that the work opens. */
export interface Claim {
  /** Claims the key. @throws AlreadyAnswered when it was claimed before, which rolls the transaction back. */
  begin(db: Database): Promise<void>
  /** Stores the answer. */
  end(db: Database, effect: unknown): Promise<void>
}

const ANSWER_TTL_MS = DAY

/** Rolls back the transaction of a request that was answered before. */
class AlreadyAnswered extends Error {}

/**
 * Executes `work` once per key. For 24 hours, repeating the request returns the first answer, on every instance and
 * also when the requests are concurrent. Keys belong to an organization, or else to the operator or the client's
 * network. The key is written in the same transaction as the change, so a crash leaves both or neither, and a rejected
 * request leaves the key free.
 * @throws Invalid for a malformed key. @throws Conflict `IDEMPOTENCY_KEY_REUSED` when the key belongs to another
 * request.
 */
export async function withIdempotencyKey<C extends Context, T, Effect>(
  ctx: C,
  request: IdempotentRequest,
  memory: AnswerSerializer<T, Effect>,
  work: (ctx: C) => Promise<T>,
): Promise<T> {
  if (request.key == null) return work(ctx)
  const id = rowIdOf(ctx, requireKey(ctx, request.key), request.part ?? 0)
  const hash = hashOf([request.operation, request.input])
  const known = await answerOf(ctx, id, hash, memory)
  if (known) return known.value
  try {
    return await work({ ...ctx, claim: claimOf(ctx, id, hash, memory) })
  } catch (error) {
    if (!(error instanceof AlreadyAnswered)) throw error
    const first = await answerOf(ctx, id, hash, memory)
    if (first) return first.value
    throw new Conflict('The first request with this key is still in progress. Try again.')
  }
}

/** Returns the first answer; null: it does not exist, or it had no lasting effect and its key was deleted. */
async function answerOf<T>(
  { db, now }: Context,
  id: string,
  hash: string,
  memory: AnswerSerializer<T, never>,
): Promise<{ readonly value: T } | null> {
  const known = await db.idempotencyKey.findUnique({ where: { id, createdAt: { gt: expiryCutoff(now()) } } })
  if (!known) return null
  if (known.hash !== hash) {
    throw new Conflict('This idempotency key was used for another request. Choose a new one.', 'IDEMPOTENCY_KEY_REUSED')
  }
  const answer = await memory.restore(known.answer)
  if (answer === null) await db.idempotencyKey.deleteMany({ where: { id, createdAt: known.createdAt } })
  return answer
}

function claimOf<Effect>(
  { now, actor }: Context,
  id: string,
  hash: string,
  memory: Pick<AnswerSerializer<unknown, Effect>, 'serialize'>,
): Claim {
  const organizationId = organizationOf(actor)
  return {
    async begin(db) {
      // A concurrent request waits here until the first one's transaction ends.
      const claimed = await db.$queryRaw<unknown[]>`
        INSERT INTO "IdempotencyKey" AS known (id, "organizationId", hash, answer, "createdAt")
        VALUES (${id}, ${organizationId}, ${hash}, '{}', ${now()})
        ON CONFLICT (id) DO UPDATE SET hash = EXCLUDED.hash, answer = EXCLUDED.answer, "createdAt" = EXCLUDED."createdAt"
        WHERE known."createdAt" <= ${expiryCutoff(now())} RETURNING id`
      if (claimed.length === 0) throw new AlreadyAnswered()
    },
    async end(db, effect) {
      // `withIdempotencyKey` pairs the work with its serializer.
      const answer = memory.serialize(effect as Effect)
      if (answer === null) await db.$queryRaw`DELETE FROM "IdempotencyKey" WHERE id = ${id}`
      else await db.$queryRaw`UPDATE "IdempotencyKey" SET answer = ${JSON.stringify(answer)}::jsonb WHERE id = ${id}`
    },
  }
}

/** Deletes a batch of expired answers. Returns whether there may be more. */
export async function deleteExpiredAnswers(
  { db, now }: Pick<Context, 'db' | 'now'>,
  count: CountDeleted = uncounted,
): Promise<boolean> {
  const deleted = await db.$executeRaw`
    DELETE FROM "IdempotencyKey" WHERE id = ANY (ARRAY(
      SELECT id FROM "IdempotencyKey" WHERE "createdAt" <= ${expiryCutoff(now())} LIMIT ${DELETE_BATCH}))`
  count('IdempotencyKey', deleted)
  return deleted >= DELETE_BATCH
}

const expiryCutoff = (now: Date) => new Date(now.getTime() - ANSWER_TTL_MS)

/**
 * The minimum length of a visitor's key. Visitors share networks, so no one may be able to guess another visitor's key.
 */
const MIN_VISITOR_KEY_LENGTH = 16

function requireKey({ actor }: Context, key: string): string {
  const minLength = actor.kind === 'visitor' ? MIN_VISITOR_KEY_LENGTH : 1
  if (/^[\x21-\x7e]{1,255}$/.test(key) && key.length >= minLength) return key
  const message = `must be ${minLength} to 255 printable ASCII characters without blanks`
  throw invalid([{ path: ['idempotencyKey'], message }])
}

function rowIdOf({ actor, clientAddress }: Context, key: string, part: number): string {
  const caller = organizationOf(actor) ?? namedCaller(actor, clientAddress)
  return hashOf([caller, key, part])
}

/** Returns a text that identifies a caller without an organization. */
function namedCaller(actor: Context['actor'], clientAddress: string | null): string {
  if (actor.kind === 'visitor') return clientSubject(clientAddress)
  return actor.kind === 'user' ? actor.userId : actor.kind
}

/** Returns the SHA-256 of a value in any order of its members, without undefined members and the idempotency key. */
function hashOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(canonicalize(value)))
    .digest('hex')
}

function canonicalize(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonicalize)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const members = Object.entries(value).filter(([name, member]) => name !== 'idempotencyKey' && member !== undefined)
  return members.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, member]) => [name, canonicalize(member)])
}

/** Stores a row by its id. Restoring reads the row again. @throws NotFound when it was deleted in the meantime. */
export function rowSerializer<T extends { readonly id: string }>({ db }: Pick<Context, 'db'>): AnswerSerializer<T> {
  return {
    serialize: ({ id }) => ({ id }),
    async restore(kept) {
      return { value: await requireRow<T>(db, storedId(kept)) }
    },
  }
}

/** A stored item of a bulk call: the id of a row, or the error. */
type StoredItem =
  | { readonly id: string }
  | { readonly refused: { readonly type: string } & Record<string, Prisma.JsonValue> }

/**
 * Stores the outcome of each item of a bulk call. Stores the errors too, even if every item failed, because other
 * transactions of the same call may have succeeded. Items that were deleted in the meantime become `NotFound`.
 */
export function outcomesSerializer<T extends { readonly id: string }>({
  db,
}: Pick<Context, 'db'>): AnswerSerializer<Outcome<T>[]> {
  return {
    serialize: (outcomes) => ({
      items: outcomes.map((each) => (isRefused(each) ? { refused: serializeError(each) } : { id: each.id })),
    }),
    async restore(kept) {
      // Written by `serialize`.
      const { items } = kept as unknown as { readonly items: readonly StoredItem[] }
      const value = items.map(async (item) =>
        'id' in item ? awaitOutcome(requireRow<T>(db, item.id)) : restoreError(item.refused),
      )
      return { value: await Promise.all(value) }
    },
  }
}

function serializeError(error: DomainError): Prisma.InputJsonObject {
  const { code, message } = error
  if (error instanceof Invalid) {
    const issues = error.issues.map((issue) => ({ path: [...issue.path], message: issue.message }))
    return { type: 'Invalid', code, message, issues }
  }
  if (error instanceof TierLimitReached) return { type: 'TierLimitReached', code, message, limit: error.limit }
  if (error instanceof RateLimited) return { type: 'RateLimited', code, message, retryAt: error.retryAt.toISOString() }
  return { type: error instanceof NotFound ? 'NotFound' : 'Conflict', code, message }
}

function restoreError(kept: Record<string, unknown>): DomainError {
  // Written by `serializeError`.
  const { type, code, message, issues, limit, retryAt } = kept as {
    readonly type: string
    readonly code: DomainError['code']
    readonly message: string
    readonly issues: Invalid['issues']
    readonly limit: number
    readonly retryAt: string
  }
  if (type === 'Invalid') return new Invalid(code, message, issues)
  if (type === 'TierLimitReached') return new TierLimitReached(message, limit)
  if (type === 'RateLimited') return new RateLimited(message, new Date(retryAt))
  return type === 'NotFound' ? new NotFound(message, code) : new Conflict(message, code)
}

/** Returns the id in a stored answer. */
export function storedId(kept: Prisma.JsonValue): string {
  return (kept as { readonly id: string }).id
}

const tables = {
  Organization: 'organization',
  ApiKey: 'apiKey',
  ServiceGroup: 'serviceGroup',
  Service: 'service',
  Incident: 'incident',
  IncidentUpdate: 'incidentUpdate',
  Maintenance: 'maintenance',
  MaintenanceSeries: 'maintenanceSeries',
  Monitor: 'monitor',
  Subscriber: 'subscriber',
  AlertChannel: 'alertChannel',
} as const

/** Reads a row by its id, whose prefix names the table. @throws NotFound when it was deleted. */
export async function requireRow<T>(db: Database, id: string): Promise<T> {
  const type = typeOfId(id)
  const table =
    type === null ? undefined : (tables as Partial<Record<string, (typeof tables)[keyof typeof tables]>>)[type]
  // Safe: all these tables have `findUnique` by id, and the id comes from an answer to this caller.
  const row = table && (await (db[table] as Database['service']).findUnique({ where: { id } }))
  if (!row) throw new NotFound('The object created with this idempotency key has been deleted.')
  return row as T
}
