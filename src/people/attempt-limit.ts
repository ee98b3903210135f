import { consumeMany } from '../account/quota.ts'
import type { Context } from '../core/context.ts'
import { RateLimited } from '../core/errors.ts'
import { clientSubject } from '../core/ip-address.ts'
import { MINUTE, utcDay } from '../core/time.ts'
import type { PeopleContext } from './context.ts'

/** Attempts are counted per quarter of an hour (UTC). */
const WINDOW = 15 * MINUTE
/**
 * The maximum numbers of wrong answers for one account: from all networks, and from one. One network alone cannot lock an account
 * for everyone. A botnet can, but not in browsers in which the person has signed in before.
 */
const MAX_PER_ACCOUNT = 30
const MAX_PER_ACCOUNT_AND_NETWORK = 10
/** The limit in a browser in which the person has signed in before. These wrong answers do not count towards other limits. */
const MAX_PER_KNOWN_BROWSER = 10
/** The limit of wrong answers from one network: an IPv4 address, or an IPv6 /64. */
const MAX_PER_NETWORK = 30
/** The limits of wrong passwords for one private page: from one network, and from all. */
const MAX_PER_PAGE_AND_NETWORK = 10
const MAX_PER_PAGE = 300
/** The limit of links to one email address. */
const MAX_LINKS_PER_ADDRESS = 3
/** The limit of requests for links and passkey challenges from one network. */
const MAX_REQUESTS_PER_NETWORK = 60

/** The subject of an attempt. */
export interface Attempted {
  /** The account, whether or not it exists. */
  readonly account: string
  /** Identifies the browser if the person has signed in there before (`knownDevice`, `ownSession`); null: an unknown browser. */
  readonly browser: string | null
  /** The limit of wrong answers from all networks; absent: 30. */
  readonly max?: number
}

/**
 * Runs an attempt to prove an identity, and counts it unless it succeeds. It is counted before it runs, so that parallel attempts
 * do not get more tries. All instances share the counts.
 * @param attempt returns what was proven; null: the answer was wrong.
 * @throws RateLimited after too many wrong answers. A known browser has its own limit; otherwise the limits of the account and the
 * network apply.
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
 * Runs an attempt to open a private page, like `limitAttempts`. The total limit of a page is high, so that one network cannot lock
 * the page for everyone.
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
 * Counts a link that is requested for an email address, whether or not it has an account.
 * @throws RateLimited after too many links to the address, or from the network.
 */
export async function limitLinks(ctx: LimitContext, email: string): Promise<void> {
  await limitRequests(ctx)
  const limit = { subject: `sign-in link ${email}`, limit: MAX_LINKS_PER_ADDRESS }
  await consume(ctx, [limit], 'Too many links were sent to this address. Try again in 15 minutes.')
}

/** Counts a request that makes us store something for a visitor. @throws RateLimited after too many from the network. */
export async function limitRequests(ctx: LimitContext): Promise<void> {
  const subject = `sign-in requests ${clientSubject(ctx.clientAddress)}`
  await consume(ctx, [{ subject, limit: MAX_REQUESTS_PER_NETWORK }], 'Too many requests. Try again in 15 minutes.')
}

type LimitContext = Pick<Context, 'db' | 'now' | 'clientAddress'>

/** The units that were counted, so that they can be returned. */
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
    // Does not use `Quota`, which remembers used-up quotas: a correct answer returns its unit.
    if (!(await consumeMany(ctx, inWindow(subject), day, { amount: 1, limit })))
      throw new RateLimited(message, new Date(day.getTime() + (window + 1) * WINDOW))
  }
  return { subjects: limits.map(({ subject }) => inWindow(subject)), day }
}

async function giveBack({ db }: Pick<Context, 'db'>, { subjects, day }: Counted): Promise<void> {
  await db.$executeRaw`
    UPDATE "UsageCounter" SET count = count - 1 WHERE subject = ANY (${subjects}::text[]) AND day = ${day}::date AND count > 0`
}
