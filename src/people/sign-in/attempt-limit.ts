import { consumeMany } from '../../account/quota.ts'
import type { Context } from '../../core/context.ts'
import { RateLimited } from '../../core/errors.ts'
import { clientSubject } from '../../core/ip-address.ts'
import { MINUTE, utcDay } from '../../core/time.ts'
import type { PeopleContext } from '../context.ts'

/** Attempts are counted per quarter of an hour (UTC). */
const WINDOW = 15 * MINUTE
/**
 * Wrong answers for one account from all networks, and from one, so that one network cannot lock an account for everybody. A botnet
 * can, but not where its person has signed in before.
 */
const MAX_PER_ACCOUNT = 30
const MAX_PER_ACCOUNT_AND_NETWORK = 10
/** Wrong answers in a browser in which the person has signed in before. They do not count for others. */
const MAX_PER_KNOWN_BROWSER = 10
/** Wrong answers from one network: an IPv4 address, or an IPv6 /64. */
const MAX_PER_NETWORK = 30
/** Wrong passwords for one private page from one network, and from all. */
const MAX_PER_PAGE_AND_NETWORK = 10
const MAX_PER_PAGE = 300
/** Links to one mail address. */
const MAX_LINKS_PER_ADDRESS = 3
/** Links, and challenges of passkeys, that one network asks for. */
const MAX_REQUESTS_PER_NETWORK = 60

/** What a person tries to prove. */
export interface Attempted {
  /** Whom it is about, whether or not there is such a person. */
  readonly account: string
  /** What names the browser, where this person has signed in before (`knownDevice`, `ownSession`); null: it is unknown. */
  readonly browser: string | null
  /** Wrong answers from all networks; absent: 30. */
  readonly max?: number
}

/**
 * Runs an attempt to prove who one is, and counts it unless it succeeds. It is counted before it runs, so that many at once
 * do not get more tries. The counts hold over all instances.
 * @param attempt returns what was proven; null: the answer was wrong.
 * @throws RateLimited after too many wrong answers: in a known browser its own, else those for the account or from the network.
 */
export async function limitAttempts<T>(
  ctx: PeopleContext,
  { account, browser, max = MAX_PER_ACCOUNT }: Attempted,
  attempt: () => Promise<T | null>,
): Promise<T | null> {
  const network = clientSubject(ctx.clientAddress)
  if (browser !== null) {
    return countAttempt(ctx, [{ subject: `sign-in ${browser} ${account}`, limit: MAX_PER_KNOWN_BROWSER }], attempt)
  }
  const limits = [
    { subject: `sign-in network ${network}`, limit: MAX_PER_NETWORK },
    { subject: `sign-in account ${account} network ${network}`, limit: MAX_PER_ACCOUNT_AND_NETWORK },
    { subject: `sign-in account ${account}`, limit: max },
  ]
  return countAttempt(ctx, limits, attempt, 'in 15 minutes, or in a browser in which you have signed in before')
}

/**
 * Runs an attempt to open a private page, as `limitAttempts`. The limit of a page is high, so that one network cannot lock it for
 * everybody.
 */
export async function limitPageAttempts<T>(
  ctx: LimitContext,
  pageId: string,
  attempt: () => Promise<T | null>,
): Promise<T | null> {
  const limits = [
    { subject: `page network ${pageId} ${clientSubject(ctx.clientAddress)}`, limit: MAX_PER_PAGE_AND_NETWORK },
    { subject: `page ${pageId}`, limit: MAX_PER_PAGE },
  ]
  return countAttempt(ctx, limits, attempt)
}

async function countAttempt<T>(
  ctx: LimitContext,
  limits: readonly Limit[],
  attempt: () => Promise<T | null>,
  again = 'in 15 minutes',
): Promise<T | null> {
  const counted = await consume(ctx, limits, `Too many wrong answers. Try again ${again}.`)
  const proven = await attempt()
  if (proven !== null) await giveBack(ctx, counted)
  return proven
}

/**
 * Counts a link that is requested for an email address, whether or not an account has it.
 * @throws RateLimited for too many to the address, or from the network.
 */
export async function limitLinks(ctx: LimitContext, email: string): Promise<void> {
  await limitRequests(ctx)
  const limit = { subject: `sign-in link ${email}`, limit: MAX_LINKS_PER_ADDRESS }
  await consume(ctx, [limit], 'Too many links were sent to this address. Try again in 15 minutes.')
}

/** Counts a request that makes us store something for a visitor. @throws RateLimited for too many from the network. */
export async function limitRequests(ctx: LimitContext): Promise<void> {
  const subject = `sign-in requests ${clientSubject(ctx.clientAddress)}`
  await consume(ctx, [{ subject, limit: MAX_REQUESTS_PER_NETWORK }], 'Too many requests. Try again in 15 minutes.')
}

type LimitContext = Pick<Context, 'db' | 'now' | 'clientAddress'>

/** What was counted, to give it back. */
interface Counted {
  readonly subjects: readonly string[]
  readonly day: Date
}

interface Limit {
  readonly subject: string
  readonly limit: number
}

async function consume(ctx: LimitContext, limits: readonly Limit[], message: string): Promise<Counted> {
  const at = ctx.now()
  const day = utcDay(at)
  const window = Math.floor((at.getTime() - day.getTime()) / WINDOW)
  const inWindow = (subject: string) => `${subject} ${window}`
  for (const { subject, limit } of limits) {
    // Not `Quota`, which remembers that a quota is used up: a right answer gives back.
    if (!(await consumeMany(ctx, inWindow(subject), day, { amount: 1, limit })))
      throw new RateLimited(message, new Date(day.getTime() + (window + 1) * WINDOW))
  }
  return { subjects: limits.map(({ subject }) => inWindow(subject)), day }
}

async function giveBack({ db }: Pick<Context, 'db'>, { subjects, day }: Counted): Promise<void> {
  await db.$executeRaw`
    UPDATE "UsageCounter" SET count = count - 1 WHERE subject = ANY (${subjects}::text[]) AND day = ${day}::date AND count > 0`
}
