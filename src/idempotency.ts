import { createHash } from 'node:crypto'
import { clientSubject } from './account/usage.ts'
import type { Context, Database } from './context.ts'
import { Conflict, type DomainError, Invalid, NotFound, RateLimited, TierLimitReached } from './errors.ts'
import type { Prisma } from './generated/prisma/client.ts'
import { typeOfId } from './id.ts'
import { DAY } from './time.ts'
import { invalid } from './validate.ts'

/** What a caller asks for under a key of its choice. */
export interface Asked {
  /** What is to be done; the same key for anything else is a conflict. */
  readonly operation: string
  readonly input: unknown
  /** Null or absent: the caller gives none, and each request is done. */
  readonly key: string | null | undefined
  /** Which part of it, of what is done in several transactions. */
  readonly part?: number
}

/** How an answer is kept and read again; `Effect` is what the transaction gives in which the effect is. */
export interface Memory<T, Effect = T> {
  /** What is kept; null: there was no effect, and the key is free again. */
  write(effect: Effect): Prisma.InputJsonValue | null
  /** Null: it was an answer without a lasting effect, and the request is done anew. */
  read(kept: Prisma.JsonValue): Promise<{ readonly value: T } | null>
}

/** A key that is taken in the transaction of the effect: the outermost that the work opens. */
export interface Claim {
  /** Takes the key. @throws Answered when it was taken before: that ends the transaction. */
  begin(db: Database): Promise<void>
  /** Keeps the answer. */
  end(db: Database, effect: unknown): Promise<void>
}

/** How long an answer is kept. */
const KEPT = DAY

/** Ends the transaction of a request that was answered before. */
class Answered extends Error {}

/**
 * Does `work` once for a key: the same request by the same organization (without one: by the operator, or from the same
 * address) gives the first answer for 24 hours, on every instance and also at the same time. The key is written in the
 * transaction of the effect, so that a crash leaves both or neither, and a request that is refused leaves the key free.
 * @throws Invalid for a key that is none. @throws Conflict `IDEMPOTENCY_KEY_REUSED` when the key stands for another request.
 */
export async function once<C extends Context, T, Effect>(
  ctx: C,
  asked: Asked,
  memory: Memory<T, Effect>,
  work: (ctx: C) => Promise<T>,
): Promise<T> {
  if (asked.key == null) return work(ctx)
  const id = idOf(ctx, requireKey(ctx, asked.key), asked.part ?? 0)
  const hash = hashOf([asked.operation, asked.input])
  const known = await answerOf(ctx, id, hash, memory)
  if (known) return known.value
  try {
    return await work({ ...ctx, claim: claimOf(ctx, id, hash, memory) })
  } catch (error) {
    if (!(error instanceof Answered)) throw error
    const first = await answerOf(ctx, id, hash, memory)
    if (first) return first.value
    throw new Conflict('The first request with this key is under way. Try again.')
  }
}

/** The answer that was given first; null: there is none, or it has no lasting effect and was forgotten. */
async function answerOf<T>(
  { db, now }: Context,
  id: string,
  hash: string,
  memory: Memory<T, never>,
): Promise<{ readonly value: T } | null> {
  const known = await db.idempotencyKey.findUnique({ where: { id, createdAt: { gt: oldest(now()) } } })
  if (!known) return null
  if (known.hash !== hash) {
    throw new Conflict('This idempotency key was used for another request. Choose a new one.', 'IDEMPOTENCY_KEY_REUSED')
  }
  const answer = await memory.read(known.answer)
  if (answer === null) await db.idempotencyKey.deleteMany({ where: { id, createdAt: known.createdAt } })
  return answer
}

function claimOf<Effect>(
  { now, actor }: Context,
  id: string,
  hash: string,
  memory: Pick<Memory<unknown, Effect>, 'write'>,
): Claim {
  const organizationId = organizationOf(actor)
  return {
    async begin(db) {
      // Who comes second waits for the first one's transaction to end.
      const taken = await db.$executeRaw`
        INSERT INTO "IdempotencyKey" AS known (id, "organizationId", hash, answer, "createdAt")
        VALUES (${id}, ${organizationId}, ${hash}, '{}', ${now()})
        ON CONFLICT (id) DO UPDATE SET hash = EXCLUDED.hash, answer = EXCLUDED.answer, "createdAt" = EXCLUDED."createdAt"
        WHERE known."createdAt" <= ${oldest(now())}`
      if (taken === 0) throw new Answered()
    },
    async end(db, effect) {
      // The transaction of the work that the memory was made for.
      const answer = memory.write(effect as Effect)
      if (answer === null) await db.idempotencyKey.deleteMany({ where: { id } })
      else await db.idempotencyKey.update({ where: { id }, data: { answer } })
    },
  }
}

/** How many answers are forgotten at once. */
const AT_ONCE = 1000

/** Forgets a batch of answers that are kept no longer. Gives whether there may be more. */
export async function forgetOldAnswers({ db, now }: Pick<Context, 'db' | 'now'>): Promise<boolean> {
  const forgotten = await db.$executeRaw`
    DELETE FROM "IdempotencyKey" WHERE id = ANY (ARRAY(
      SELECT id FROM "IdempotencyKey" WHERE "createdAt" <= ${oldest(now())} LIMIT ${AT_ONCE}))`
  return forgotten >= AT_ONCE
}

const oldest = (now: Date) => new Date(now.getTime() - KEPT)

/** The shortest key of a caller without a credential: others may share its address, and must not guess it. */
const SHORTEST_OF_VISITORS = 16

function requireKey({ actor }: Context, key: string): string {
  const shortest = actor.kind === 'visitor' ? SHORTEST_OF_VISITORS : 1
  if (/^[\x21-\x7e]{1,255}$/.test(key) && key.length >= shortest) return key
  const message = `must be ${shortest} to 255 printable ASCII characters without blanks`
  throw invalid([{ path: ['idempotencyKey'], message }])
}

const organizationOf = (actor: Context['actor']) =>
  actor.kind === 'apiKey' || actor.kind === 'operator' ? (actor.organizationId ?? null) : null

function idOf({ actor, clientAddress }: Context, key: string, part: number): string {
  const caller = organizationOf(actor) ?? (actor.kind === 'visitor' ? clientSubject(clientAddress) : actor.kind)
  return hashOf([caller, key, part])
}

/** SHA-256 of a value, whatever the order of its members; keys that are null or absent and the key itself do not count. */
function hashOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex')
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const members = Object.entries(value).filter(([name, member]) => name !== 'idempotencyKey' && member !== undefined)
  return members.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, member]) => [name, sorted(member)])
}

/** Keeps the id of a row, which is read anew. @throws NotFound when it was deleted since. */
export function rowMemory<T extends { readonly id: string }>({ db }: Pick<Context, 'db'>): Memory<T> {
  return {
    write: ({ id }) => ({ id }),
    async read(kept) {
      return { value: await rowById<T>(db, idIn(kept)) }
    },
  }
}

/** What is kept of one item of a call of many: the id of a row, or why it was refused. */
type KeptItem =
  | { readonly id: string }
  | { readonly refused: { readonly type: string } & Record<string, Prisma.JsonValue> }

/** Keeps what came of many items; without an effect when all were refused. */
export function outcomesMemory<T extends { readonly id: string }>({
  db,
}: Pick<Context, 'db'>): Memory<({ readonly value: T } | { readonly error: DomainError })[]> {
  return {
    write(outcomes) {
      if (!outcomes.some((each) => 'value' in each)) return null
      return {
        items: outcomes.map((each) => ('value' in each ? { id: each.value.id } : { refused: written(each.error) })),
      }
    },
    async read(kept) {
      // Only `write` has written it.
      const { items } = kept as unknown as { readonly items: readonly KeptItem[] }
      const value = items.map(async (item) =>
        'id' in item ? { value: await rowById<T>(db, item.id) } : { error: refusalOf(item.refused) },
      )
      return { value: await Promise.all(value) }
    },
  }
}

function written(error: DomainError): Prisma.InputJsonObject {
  const { code, message } = error
  if (error instanceof Invalid) {
    const issues = error.issues.map((issue) => ({ path: [...issue.path], message: issue.message }))
    return { type: 'Invalid', code, message, issues }
  }
  if (error instanceof TierLimitReached) return { type: 'TierLimitReached', code, message, limit: error.limit }
  if (error instanceof RateLimited) return { type: 'RateLimited', code, message, retryAt: error.retryAt.toISOString() }
  return { type: error instanceof NotFound ? 'NotFound' : 'Conflict', code, message }
}

function refusalOf(kept: Record<string, unknown>): DomainError {
  // Only `written` has written it.
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

/** The id that is kept of an answer. */
export function idIn(kept: Prisma.JsonValue): string {
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
  Monitor: 'monitor',
  Subscriber: 'subscriber',
} as const

/** A row by its id, whose prefix says which table has it. @throws NotFound when it was deleted. */
export async function rowById<T>(db: Database, id: string): Promise<T> {
  const type = typeOfId(id)
  const table =
    type === null ? undefined : (tables as Partial<Record<string, (typeof tables)[keyof typeof tables]>>)[type]
  // All these tables are read alike, and the id is one that the caller's own answer had.
  const row = table && (await (db[table] as Database['service']).findUnique({ where: { id } }))
  if (!row) throw new NotFound('What was created under this idempotency key has been deleted.')
  return row as T
}
