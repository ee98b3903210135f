import type pg from 'pg'
import { proOrganizationOf } from '../core/access.ts'
import { createBatchWriter } from '../core/concurrency/batch-writer.ts'
import type { Context, Database } from '../core/context.ts'
import type { CountDeleted } from '../core/deleted-rows.ts'
import { DELETE_BATCH, uncounted } from '../core/deleted-rows.ts'
import { LimitExceeded } from '../core/errors.ts'
import { clientSubject } from '../core/ip-address.ts'
import { createLruMap } from '../core/lru-map.ts'
import { DAY, HOUR, nextUtcDay, utcDay } from '../core/time.ts'
import type { CheckPlan } from '../generated/prisma/enums.ts'
import { checksPerDay } from './limits.ts'

/** A caller's remaining checks today. */
export interface Allowance {
  readonly plan: CheckPlan
  /** Checks per UTC day. */
  readonly limit: number
  readonly remaining: number
  /** The next UTC midnight, when the quota resets. */
  readonly resetsAt: Date
}

/** Daily quotas, shared by all parts of this process. */
export interface Quota {
  /** Consumes one unit of the subject's daily quota. When `limit` is reached, consumes nothing and `granted` is false. */
  consume(subject: string, day: Date, limit: number): Promise<Consumption>
  /** Returns whether `consume` has already found the quota used up. Runs no database query. */
  isUsedUp(subject: string, day: Date, limit: number): boolean
}

interface Consumption {
  readonly granted: boolean
  /** The subject's consumption that day, including this unit. */
  readonly count: number
}

/**
 * Consumes one check: from the quota of the key's organization if it has the PRO plan, otherwise from that of the client address.
 * @throws LimitExceeded when today's checks are used up; it then consumes nothing.
 */
export async function consumeCheck(ctx: Context & { readonly usage: Quota }): Promise<Allowance> {
  const { plan, subject } = quotaSubject(ctx)
  const limit = checksPerDay[plan]
  const now = ctx.now()
  const resetsAt = nextUtcDay(now)
  const { granted, count } = await ctx.usage.consume(subject, utcDay(now), limit)
  if (granted) return { plan, limit, remaining: limit - count, resetsAt }
  const whose = plan === 'PRO' ? 'your organization' : 'your address'
  throw new LimitExceeded(`All ${limit} checks of ${whose} for today (UTC) are used up.`, limit, resetsAt)
}

/** Consumes one unit of a subject's quota for this UTC hour. Returns false, and consumes nothing, when it is used up. */
export async function consumeHourly(usage: Quota, subject: string, now: Date, limit: number): Promise<boolean> {
  const hour = Math.floor((now.getTime() - utcDay(now).getTime()) / HOUR)
  return (await usage.consume(`${subject} hour ${hour}`, utcDay(now), limit)).granted
}

/**
 * Consumes `amount` of a subject's daily quota. Returns false, and consumes nothing, when less is left. Runs in the caller's
 * transaction, so that a rollback undoes it.
 */
export async function consumeMany(
  { db }: Pick<Context, 'db'>,
  subject: string,
  day: Date,
  { amount, limit }: { readonly amount: number; readonly limit: number },
): Promise<boolean> {
  const taken = await db.$executeRaw`
    INSERT INTO "UsageCounter" AS counter (subject, day, count, "lastGrant")
    SELECT ${subject}, ${day}::date, ${amount}::int, ${amount}::int WHERE ${amount}::int <= ${limit}::int
    ON CONFLICT (subject, day) DO UPDATE SET count = counter.count + EXCLUDED.count, "lastGrant" = EXCLUDED.count
    WHERE counter.count + EXCLUDED.count <= ${limit}::int`
  return taken > 0
}

/** Gives one unit of a day back to each of the subjects that have consumed any. */
export async function giveBackMany({ db }: Pick<Context, 'db'>, subjects: readonly string[], day: Date): Promise<void> {
  await db.$executeRaw`
    UPDATE "UsageCounter" SET count = count - 1 WHERE subject = ANY (${subjects}::text[]) AND day = ${day}::date AND count > 0`
}

/** Returns how much of their daily quotas subjects have consumed. Subjects that have consumed nothing are absent. */
export async function consumedBy(
  { db }: Pick<Context, 'db'>,
  subjects: readonly string[],
  day: Date,
): Promise<Map<string, number>> {
  const counters = await db.usageCounter.findMany({ where: { day, subject: { in: [...subjects] } } })
  return new Map(counters.map(({ subject, count }) => [subject, count]))
}

/** Consumes daily quotas of many subjects in the caller's transaction. The caller has checked that each has enough left. */
export async function consumeAll(
  { db }: Pick<Context, 'db'>,
  amounts: ReadonlyMap<string, number>,
  day: Date,
): Promise<void> {
  if (amounts.size === 0) return
  await db.$executeRaw`
    INSERT INTO "UsageCounter" AS counter (subject, day, count, "lastGrant")
    SELECT subject, ${day}::date, amount, amount
    FROM unnest(${[...amounts.keys()]}::text[], ${[...amounts.values()]}::int[]) AS given (subject, amount) ORDER BY subject
    ON CONFLICT (subject, day) DO UPDATE SET count = counter.count + EXCLUDED.count, "lastGrant" = EXCLUDED.count`
}

/** Returns the caller's remaining checks today. Consumes nothing. */
export async function allowanceOf(ctx: Context & { readonly usage: Quota }): Promise<Allowance> {
  const { plan, subject } = quotaSubject(ctx)
  const limit = checksPerDay[plan]
  const now = ctx.now()
  const day = utcDay(now)
  const used = ctx.usage.isUsedUp(subject, day, limit) ? limit : await checksOn(ctx.db, subject, day)
  return { plan, limit, remaining: Math.max(0, limit - used), resetsAt: nextUtcDay(now) }
}

/** Returns the number of checks that an organization has used of its PRO plan today (UTC). */
export function organizationChecks(ctx: Context, organizationId: string): Promise<number> {
  return checksOn(ctx.db, organizationSubject(organizationId), utcDay(ctx.now()))
}

/**
 * Deletes a batch of counters from before yesterday. They are no longer needed, and contain addresses, which are personal data.
 * Returns whether there may be more.
 */
export async function deleteOldUsage(
  { db, now }: Pick<Context, 'db' | 'now'>,
  count: CountDeleted = uncounted,
): Promise<boolean> {
  const deleted = await db.$executeRaw`
    DELETE FROM "UsageCounter" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "UsageCounter"
      WHERE day < ${new Date(utcDay(now()).getTime() - DAY)}::date LIMIT ${DELETE_BATCH}))`
  count('UsageCounter', deleted)
  return deleted >= DELETE_BATCH
}

/** Returns the plan and the subject of a check's quota. Checks of the FREE plan count by client address. */
export function quotaSubject({ actor, clientAddress }: Context): { plan: CheckPlan; subject: string } {
  const payer = proOrganizationOf(actor)
  if (payer !== null) return { plan: 'PRO', subject: organizationSubject(payer) }
  return { plan: 'FREE', subject: clientSubject(clientAddress) }
}

const organizationSubject = (id: string) => `organization:${id}`

async function checksOn(db: Database, subject: string, day: Date): Promise<number> {
  const counter = await db.usageCounter.findUnique({ where: { subject_day: { subject, day } } })
  return counter?.count ?? 0
}

/** The pool that runs the counter statement. Prisma would be the most expensive part of the statement. */
type Queryable = Pick<pg.Pool, 'query'>

/** How long requests are gathered after a statement, in milliseconds, unless a batch is full earlier. */
const GATHER_MS = 2
/** The size of a full batch: large enough to be worth a statement, and small enough that other work does not wait long. */
const BATCH_SIZE = 24
/** The maximum number of used-up quotas in the cache. */
const CACHE_SIZE = 10_000

/** A request waiting for its result. */
interface PendingRequest {
  readonly subject: string
  readonly day: Date
  readonly limit: number
  readonly resolve: (taken: Consumption) => void
  readonly reject: (error: unknown) => void
}

/** The requests for one day and limit, in order, by subject. */
interface RequestBatch {
  readonly day: Date
  readonly limit: number
  readonly waiting: Map<string, PendingRequest[]>
}

/**
 * Creates quotas in the database. Requests that arrive during a statement, or just after one, share the next statement. Each then
 * costs a fraction of a round trip, and counts are exact across processes. A statement costs as much as several requests, so
 * small batches are gathered a little longer; a request that arrives while nothing runs does not wait. Counts only grow, so
 * used-up quotas are cached.
 */
export function createQuota(pool: Queryable): Quota {
  const usedUp = createLruMap<Consumption>(CACHE_SIZE)
  const requests = createBatchWriter<PendingRequest>({
    full: BATCH_SIZE,
    gatherMs: GATHER_MS,
    // Gathers the other requests of this turn of the event loop.
    firstGatherMs: null,
    take: (waiting) => waiting.splice(0),
    async write(batch) {
      for (const ofOneLimit of byLimit(batch)) await count(pool, ofOneLimit)
      return undefined
    },
  })

  function enqueue(subject: string, day: Date, limit: number): Promise<Consumption> {
    return new Promise((fulfill, reject) => {
      const resolve = (taken: Consumption) => {
        if (taken.count >= limit) usedUp.set(keyOf(subject, day, limit), { granted: false, count: taken.count })
        fulfill(taken)
      }
      requests.add({ subject, day, limit, resolve, reject })
    })
  }

  return {
    consume(subject, day, limit) {
      const known = usedUp.size === 0 ? undefined : usedUp.get(keyOf(subject, day, limit))
      return known === undefined ? enqueue(subject, day, limit) : Promise.resolve(known)
    },
    isUsedUp: (subject, day, limit) => usedUp.has(keyOf(subject, day, limit)),
  }
}

function byLimit(requests: readonly PendingRequest[]): Iterable<RequestBatch> {
  const batches = new Map<string, RequestBatch>()
  for (const request of requests) {
    const { subject, day, limit } = request
    const key = `${limit} ${day.getTime()}`
    const batch = batches.get(key) ?? { day, limit, waiting: new Map<string, PendingRequest[]>() }
    batches.set(key, batch)
    const others = batch.waiting.get(subject)
    if (others) others.push(request)
    else batch.waiting.set(subject, [request])
  }
  return batches.values()
}

const keyOf = (subject: string, day: Date, limit: number) => `${day.getTime()} ${limit} ${subject}`

/**
 * Adds requests ($1) to each subject's count for a day ($2) up to the limit ($3), and returns the grants. Orders rows by subject,
 * so that two processes lock them in the same order. Uses JSON, which costs this process less than as many rows.
 */
const COUNT = `
  WITH counted AS (
    INSERT INTO "UsageCounter" AS counter ("subject", "day", "count", "lastGrant")
    SELECT subject, $2::date, LEAST(asked::int, $3::int), LEAST(asked::int, $3::int)
    FROM json_each_text($1::json) AS ask (subject, asked)
    ORDER BY subject
    ON CONFLICT ("subject", "day") DO UPDATE SET
      "lastGrant" = LEAST(EXCLUDED."count", GREATEST($3::int - counter."count", 0)),
      "count" = counter."count" + LEAST(EXCLUDED."count", GREATEST($3::int - counter."count", 0))
    RETURNING "subject", "count", "lastGrant"
  )
  SELECT json_object_agg("subject", json_build_array("count", "lastGrant")) AS counted FROM counted`

/** By subject: the count of the day, and how many units were just granted. */
type Counted = Readonly<Record<string, readonly [count: number, lastGrant: number]>>

/** Counts a batch with one statement and resolves its requests. The first requests of each subject are granted up to the limit. */
async function count(pool: Queryable, { day, limit, waiting }: RequestBatch): Promise<void> {
  const asked = Object.fromEntries([...waiting].map(([subject, { length }]) => [subject, length]))
  try {
    // Named, so that each connection prepares it once.
    const { rows } = await pool.query<{ counted: Counted }>({
      name: 'count checks',
      text: COUNT,
      values: [JSON.stringify(asked), day.toISOString(), limit],
    })
    const counted = Object.entries(rows[0]?.counted ?? {})
    // Deferred, so that the next statement runs while these requests are being answered.
    setImmediate(() => {
      for (const [subject, [count, lastGrant]] of counted) {
        for (const [index, { resolve }] of (waiting.get(subject) ?? []).entries()) {
          resolve(
            index < lastGrant ? { granted: true, count: count - lastGrant + index + 1 } : { granted: false, count },
          )
        }
      }
    })
  } catch (error) {
    for (const { reject } of [...waiting.values()].flat()) reject(error)
  }
}
