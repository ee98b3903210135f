import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import type { Context, Database } from '../context.ts'
import { LimitExceeded } from '../errors.ts'
import type { CheckPlan } from '../generated/prisma/enums.ts'
import { addressFamily, subnet64 } from '../network/address.ts'
import { DAY, HOUR, nextUtcDay, utcDay } from '../time.ts'
import { checksPerDay } from './plan.ts'

/** What a caller may still check today. */
export interface Allowance {
  readonly plan: CheckPlan
  /** Checks a UTC day. */
  readonly limit: number
  readonly remaining: number
  /** The next UTC midnight, when the day's checks start anew. */
  readonly resetsAt: Date
}

/** The daily counters, shared by everything in this process that counts checks. */
export interface UsageCounters {
  /** Takes one from the subject's day; `granted` is false when `limit` was reached, and nothing is taken then. */
  take(subject: string, day: Date, limit: number): Promise<Taken>
  /** Whether `take` has found nothing left that day, which it then knows without asking the database. */
  isUsedUp(subject: string, day: Date, limit: number): boolean
}

interface Taken {
  readonly granted: boolean
  /** How many the subject has taken that day, this one included. */
  readonly count: number
}

/**
 * Counts one check of the caller's plan: a pro key's organization, else the client address.
 * @throws LimitExceeded when today's checks are used up; nothing is counted then.
 */
export async function spendCheck(ctx: Context & { readonly usage: UsageCounters }): Promise<Allowance> {
  const { plan, subject } = payer(ctx)
  const limit = checksPerDay[plan]
  const now = ctx.now()
  const resetsAt = nextUtcDay(now)
  const { granted, count } = await ctx.usage.take(subject, utcDay(now), limit)
  if (granted) return { plan, limit, remaining: limit - count, resetsAt }
  const whose = plan === 'PRO' ? 'your organization' : 'your address'
  throw new LimitExceeded(`All ${limit} checks of ${whose} for today (UTC) are used up.`, limit, resetsAt)
}

/** Takes one of what a subject may have in an hour (UTC); false when there is none left, and nothing is taken then. */
export async function takeThisHour(usage: UsageCounters, subject: string, now: Date, limit: number): Promise<boolean> {
  const hour = Math.floor((now.getTime() - utcDay(now).getTime()) / HOUR)
  return (await usage.take(`${subject} hour ${hour}`, utcDay(now), limit)).granted
}

/**
 * Takes `amount` at once of what a subject may have on a day, or nothing when that is more than is left; then it gives false.
 * In the caller's transaction: when that fails, nothing is taken.
 */
export async function takeAtOnce(
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

/** What the caller may still check today; counts nothing. */
export async function allowanceOf(ctx: Context & { readonly usage: UsageCounters }): Promise<Allowance> {
  const { plan, subject } = payer(ctx)
  const limit = checksPerDay[plan]
  const now = ctx.now()
  const day = utcDay(now)
  const used = ctx.usage.isUsedUp(subject, day, limit) ? limit : await checksOn(ctx.db, subject, day)
  return { plan, limit, remaining: Math.max(0, limit - used), resetsAt: nextUtcDay(now) }
}

/** How many checks an organization's pro plan has spent on the current UTC day. */
export function organizationChecks(ctx: Context, organizationId: string): Promise<number> {
  return checksOn(ctx.db, organizationSubject(organizationId), utcDay(ctx.now()))
}

/** Forgets counters of days before yesterday; they decide nothing any more, and addresses are personal data. */
export async function forgetOldUsage(ctx: Pick<Context, 'db' | 'now'>): Promise<void> {
  await ctx.db.usageCounter.deleteMany({ where: { day: { lt: new Date(utcDay(ctx.now()).getTime() - DAY) } } })
}

/** Whose plan pays for a check: free ones count by client address. */
function payer({ actor, clientAddress }: Context): { plan: CheckPlan; subject: string } {
  if (actor.kind === 'apiKey' && actor.checkPlan === 'PRO') {
    return { plan: 'PRO', subject: organizationSubject(actor.organizationId) }
  }
  return { plan: 'FREE', subject: clientSubject(clientAddress) }
}

/** What a client address is counted as: an IPv6 subscriber has a whole /64. */
export function clientSubject(clientAddress: string | null): string {
  const address = clientAddress ?? 'none'
  return `ip:${addressFamily(address) === 6 ? subnet64(address) : address}`
}

const organizationSubject = (id: string) => `organization:${id}`

async function checksOn(db: Database, subject: string, day: Date): Promise<number> {
  const counter = await db.usageCounter.findUnique({ where: { subject_day: { subject, day } } })
  return counter?.count ?? 0
}

/** Where the counters' one statement is sent: past Prisma, whose share of the cost would be the largest. */
type Queryable = Pick<pg.Pool, 'query'>

/** For how long asks are gathered after a statement, in milliseconds, unless there are enough before. */
const GATHER = 2
/** As many asks as make up for what their statement costs beside them, and so few that others are served meanwhile. */
const ENOUGH = 24
/** Of how many subjects it is remembered that their day is used up. */
const REMEMBERED = 10_000

/** Somebody who has asked for a check and waits to be told. */
interface Waiting {
  readonly resolve: (taken: Taken) => void
  readonly reject: (error: unknown) => void
}

/** Asks of one day and limit: those who wait, in order, by the subject they ask for. */
interface Asks {
  readonly day: Date
  readonly limit: number
  readonly waiting: Map<string, Waiting[]>
}

/**
 * Counters over the database. Asks that come while a statement is under way, or just after one, wait and share the next:
 * counting costs a fraction of a round trip each and is still exact, also between processes. A statement costs the process
 * as much as several requests, so when there are few it pays to gather a little longer; an ask that finds nothing under
 * way does not wait. A count only grows, so of a day that was found used up nothing more is asked.
 */
export function createUsageCounters(pool: Queryable): UsageCounters {
  const usedUp = new LRUCache<string, Taken>({ max: REMEMBERED })
  let gathered: Asks[] = []
  let size = 0
  let counting = false
  let onEnough = () => {}

  function asksOf(day: Date, limit: number): Asks {
    const found = gathered.find((asks) => asks.limit === limit && asks.day.getTime() === day.getTime())
    if (found) return found
    const asks = { day, limit, waiting: new Map() }
    gathered.push(asks)
    return asks
  }

  /** Waits until there are enough asks, but no longer than `wait` does. */
  function gather(wait: (resolve: () => void) => unknown): Promise<void> {
    return new Promise((resolve) => {
      onEnough = resolve
      wait(resolve)
    })
  }

  async function countGathered(): Promise<void> {
    counting = true
    // What else is asked for in this turn of the event loop is counted with it.
    await gather(setImmediate)
    while (size > 0) {
      const batch = gathered
      gathered = []
      size = 0
      for (const asks of batch) await count(pool, asks)
      if (size < ENOUGH) await gather((resolve) => setTimeout(resolve, GATHER))
    }
    counting = false
  }

  function ask(subject: string, day: Date, limit: number): Promise<Taken> {
    return new Promise((tell, reject) => {
      const resolve = (taken: Taken) => {
        if (taken.count >= limit) usedUp.set(keyOf(subject, day, limit), { granted: false, count: taken.count })
        tell(taken)
      }
      const { waiting } = asksOf(day, limit)
      const others = waiting.get(subject)
      if (others) others.push({ resolve, reject })
      else waiting.set(subject, [{ resolve, reject }])
      size += 1
      if (size === ENOUGH) onEnough()
      if (!counting) void countGathered()
    })
  }

  return {
    take(subject, day, limit) {
      const known = usedUp.size === 0 ? undefined : usedUp.get(keyOf(subject, day, limit))
      return known === undefined ? ask(subject, day, limit) : Promise.resolve(known)
    },
    isUsedUp: (subject, day, limit) => usedUp.has(keyOf(subject, day, limit)),
  }
}

const keyOf = (subject: string, day: Date, limit: number) => `${day.getTime()} ${limit} ${subject}`

/**
 * Adds what the limit ($3) leaves to each subject of what it asks ($1) on a day ($2), and says how much it was. In the
 * order of the subjects, so that two processes lock the same rows in the same order. In and out as JSON, which costs this
 * process less than as many rows.
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

/** By subject: how many it has taken that day, and how many of them just now. */
type Counted = Readonly<Record<string, readonly [count: number, lastGrant: number]>>

/** Counts asks in one statement, and tells those who wait: the first ones of a subject are granted as far as its limit goes. */
async function count(pool: Queryable, { day, limit, waiting }: Asks): Promise<void> {
  const asked = Object.fromEntries([...waiting].map(([subject, { length }]) => [subject, length]))
  try {
    // Named, so that each connection parses and plans it once.
    const { rows } = await pool.query<{ counted: Counted }>({
      name: 'count checks',
      text: COUNT,
      values: [JSON.stringify(asked), day.toISOString(), limit],
    })
    const counted = Object.entries(rows[0]?.counted ?? {})
    // Later, so that the next statement is under way while the answers to this one are sent.
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
