import { setTimeout as sleep } from 'node:timers/promises'
import DataLoader from 'dataloader'
import type pg from 'pg'
import type { Context, Database } from '../context.ts'
import { LimitExceeded } from '../errors.ts'
import type { CheckPlan } from '../generated/prisma/enums.ts'
import { addressFamily, subnet64 } from '../network/address.ts'
import { DAY, nextUtcDay, utcDay } from '../time.ts'
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
}

interface Taken {
  readonly granted: boolean
  /** How many the subject has taken that day, this one included. */
  readonly count: number
}

interface Ask {
  readonly subject: string
  readonly day: Date
  readonly limit: number
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

/** What the caller may still check today; counts nothing. */
export async function allowanceOf(ctx: Context): Promise<Allowance> {
  const { plan, subject } = payer(ctx)
  const limit = checksPerDay[plan]
  const now = ctx.now()
  const used = await checksOn(ctx.db, subject, utcDay(now))
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

/** Whose plan pays for a check: free ones count by client address, an IPv6 subscriber having a whole /64. */
function payer({ actor, clientAddress }: Context): { plan: CheckPlan; subject: string } {
  if (actor.kind === 'apiKey' && actor.checkPlan === 'PRO') {
    return { plan: 'PRO', subject: organizationSubject(actor.organizationId) }
  }
  const address = clientAddress ?? 'none'
  return { plan: 'FREE', subject: `ip:${addressFamily(address) === 6 ? subnet64(address) : address}` }
}

const organizationSubject = (id: string) => `organization:${id}`

async function checksOn(db: Database, subject: string, day: Date): Promise<number> {
  const counter = await db.usageCounter.findUnique({ where: { subject_day: { subject, day } } })
  return counter?.count ?? 0
}

/** Where the counters' one statement is sent: past Prisma, whose share of the cost would be the largest. */
type Queryable = Pick<pg.Pool, 'query'>

/** Least time between the end of a statement that counts and the start of the next, in milliseconds. */
const GATHER = 2

/**
 * Counters over the database. Asks that come while a statement is under way, or just after one, wait and share the next:
 * counting costs a fraction of a round trip each and is still exact, also between processes. A statement costs the process
 * as much as several requests, so under load it pays to gather a little longer; an ask that finds nothing under way does
 * not wait.
 */
export function createUsageCounters(pool: Queryable): UsageCounters {
  let free: Promise<unknown> = Promise.resolve()
  const loader = new DataLoader<Ask, Taken>(
    (asks) => {
      const taken = takeAll(pool, asks)
      free = taken.catch(() => undefined).then(() => sleep(GATHER))
      return taken
    },
    { cache: false, maxBatchSize: 1000, batchScheduleFn: (send) => void free.then(() => setImmediate(send)) },
  )
  return { take: (subject, day, limit) => loader.load({ subject, day, limit }) }
}

/** Answers asks in their order: the first ones of a subject are granted as far as its limit goes. */
async function takeAll(pool: Queryable, asks: readonly Ask[]): Promise<Taken[]> {
  const answers = new Map<Ask, Taken>()
  for (const group of groupBy(asks, ({ day, limit }) => `${day.getTime()} ${limit}`)) {
    for (const [ask, taken] of await takeGroup(pool, group)) answers.set(ask, taken)
  }
  return asks.map((ask) => answers.get(ask) ?? { granted: false, count: ask.limit })
}

interface Counted {
  readonly subject: string
  readonly count: number
  readonly lastGrant: number
}

/**
 * Adds what the limit ($4) leaves to each subject ($1) of what it asks ($2) on a day ($3), and says how much it was. In
 * the order of the subjects, so that two processes lock the same rows in the same order.
 */
const COUNT = `
  INSERT INTO "UsageCounter" AS counter ("subject", "day", "count", "lastGrant")
  SELECT subject, $3::date, LEAST(asked, $4::int), LEAST(asked, $4::int)
  FROM unnest($1::text[], $2::int[]) AS ask (subject, asked)
  ORDER BY subject
  ON CONFLICT ("subject", "day") DO UPDATE SET
    "lastGrant" = LEAST(EXCLUDED."count", GREATEST($4::int - counter."count", 0)),
    "count" = counter."count" + LEAST(EXCLUDED."count", GREATEST($4::int - counter."count", 0))
  RETURNING "subject", "count", "lastGrant"`

/** One statement for asks of one day and limit. */
async function takeGroup(pool: Queryable, asks: readonly [Ask, ...Ask[]]): Promise<[Ask, Taken][]> {
  const [{ day, limit }] = asks
  const bySubject = groupBy(asks, ({ subject }) => subject)
  const subjects = bySubject.map(([{ subject }]) => subject)
  const asked = bySubject.map((group) => group.length)
  // Named, so that each connection parses and plans it once.
  const { rows: counted } = await pool.query<Counted>({
    name: 'count checks',
    text: COUNT,
    values: [subjects, asked, day.toISOString(), limit],
  })
  const rows = new Map(counted.map((row) => [row.subject, row]))
  return bySubject.flatMap((group) => {
    const { count = limit, lastGrant = 0 } = rows.get(group[0].subject) ?? {}
    return group.map((ask, index): [Ask, Taken] => [
      ask,
      index < lastGrant ? { granted: true, count: count - lastGrant + index + 1 } : { granted: false, count },
    ])
  })
}

/** The values that share a key, together and in order. */
function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): [T, ...T[]][] {
  const groups = new Map<string, [T, ...T[]]>()
  for (const value of values) {
    const group = groups.get(keyOf(value))
    if (group) group.push(value)
    else groups.set(keyOf(value), [value])
  }
  return [...groups.values()]
}
