import { consumeMany, giveBackMany } from '../account/quota.ts'
import type { Context } from '../core/context.ts'
import { RateLimited } from '../core/errors.ts'
import { clientSubject, wideClientSubject } from '../core/ip-address.ts'
import { MINUTE, utcDay } from '../core/time.ts'
import type { PeopleContext } from './context.ts'

/** Attempts are counted per quarter of an hour (UTC). */
const WINDOW = 15 * MINUTE
/**
 * The maximum numbers of wrong answers for one account: from all networks, from one wide network (an IPv4 /24 or an IPv6 /48) and
 * from one network (an IPv4 address or an IPv6 /64). What one customer of a provider has cannot lock an account for everyone. A
 * botnet can, but not in browsers in which the person has signed in before, and emailed links go on working. Guessing 100
 * passwords is what NIST SP 800-63B §3.2.2 allows before it requires more than waiting.
 */
const MAX_PER_ACCOUNT = 100
const MAX_PER_ACCOUNT_AND_WIDE_NETWORK = 20
const MAX_PER_ACCOUNT_AND_NETWORK = 10
/** The limit in a browser in which the person has signed in before. These wrong answers do not count towards other limits. */
const MAX_PER_KNOWN_BROWSER = 10
/** The limits of wrong answers from one network and one wide network, for all accounts. */
const MAX_PER_NETWORK = 30
const MAX_PER_WIDE_NETWORK = 120
/** The limits of wrong passwords for one private page: from one network, from one wide network and from all. */
const MAX_PER_PAGE_AND_NETWORK = 10
const MAX_PER_PAGE_AND_WIDE_NETWORK = 30
const MAX_PER_PAGE = 600
/**
 * The limits of links to one email address: requested in one network, in one wide network, in all, and in a browser in which the
 * person has signed in before. Strangers who use up the limit of all have filled the mailbox with links that its owner can use.
 */
const MAX_LINKS_PER_NETWORK = 3
const MAX_LINKS_PER_WIDE_NETWORK = 5
const MAX_LINKS_PER_ADDRESS = 15
const MAX_LINKS_PER_KNOWN_BROWSER = 3
/** The limits of requests for links and passkey challenges from one network and one wide network. */
const MAX_REQUESTS_PER_NETWORK = 60
const MAX_REQUESTS_PER_WIDE_NETWORK = 240
/** The limits of emailed invitations: of one organization, of it to one address, and to one address. */
const MAX_INVITATIONS = 50
const MAX_INVITATIONS_PER_ADDRESS_AND_ORGANIZATION = 2
const MAX_INVITATIONS_PER_ADDRESS = 5

/** The subject of an attempt. */
export interface Attempted {
  /** The account, whether or not it exists. */
  readonly account: string
  /** Identifies the browser if the person has signed in there before (`knownDevice`, `ownSession`); null: an unknown browser. */
  readonly browser: string | null
  /** The limit of wrong answers from all networks; absent: 100. */
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
  const { network, wideNetwork } = networksOf(ctx)
  if (browser !== null) {
    return countAttempt(ctx, [{ subject: `sign-in ${browser} ${account}`, limit: MAX_PER_KNOWN_BROWSER }], attempt)
  }
  const limits = [
    { subject: `sign-in network ${network}`, limit: MAX_PER_NETWORK },
    { subject: `sign-in network ${wideNetwork}`, limit: MAX_PER_WIDE_NETWORK },
    { subject: `sign-in account ${account} network ${network}`, limit: MAX_PER_ACCOUNT_AND_NETWORK },
    { subject: `sign-in account ${account} network ${wideNetwork}`, limit: MAX_PER_ACCOUNT_AND_WIDE_NETWORK },
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
  const { network, wideNetwork } = networksOf(ctx)
  const limits = [
    { subject: `page network ${pageId} ${network}`, limit: MAX_PER_PAGE_AND_NETWORK },
    { subject: `page network ${pageId} ${wideNetwork}`, limit: MAX_PER_PAGE_AND_WIDE_NETWORK },
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

/** A link that is requested for an email address. */
interface RequestedLink {
  readonly email: string
  /**
   * What it is for. Each purpose has limits of its own, because its links are of no use for another one: strangers must not use up
   * the links to an account with requests for links that the account does not get.
   */
  readonly purpose: 'account' | 'sign-up' | 'page'
  /** Identifies the browser if the person has signed in there before (`knownDevice`); null: an unknown browser. */
  readonly browser: string | null
}

/**
 * Counts a link that is requested for an email address, whether or not it has an account.
 * @throws RateLimited after too many links to the address, or requests from the network.
 */
export async function limitLinks(ctx: LimitContext, { email, purpose, browser }: RequestedLink): Promise<void> {
  // Neighbours in a network must not use up the requests of a known browser, which has few enough.
  if (browser === null) await limitRequests(ctx)
  const { network, wideNetwork } = networksOf(ctx)
  const link = `${purpose} link ${email}`
  const limits =
    browser === null
      ? [
          { subject: `${link} network ${network}`, limit: MAX_LINKS_PER_NETWORK },
          { subject: `${link} network ${wideNetwork}`, limit: MAX_LINKS_PER_WIDE_NETWORK },
          { subject: link, limit: MAX_LINKS_PER_ADDRESS },
        ]
      : [{ subject: `${link} ${browser}`, limit: MAX_LINKS_PER_KNOWN_BROWSER }]
  await consume(ctx, limits, 'Too many links were sent to this address. Use one of them, or try again in 15 minutes.')
}

/** Counts a request that makes us store something for a visitor. @throws RateLimited after too many from the network. */
export async function limitRequests(ctx: LimitContext): Promise<void> {
  const { network, wideNetwork } = networksOf(ctx)
  const limits = [
    { subject: `sign-in requests ${network}`, limit: MAX_REQUESTS_PER_NETWORK },
    { subject: `sign-in requests ${wideNetwork}`, limit: MAX_REQUESTS_PER_WIDE_NETWORK },
  ]
  await consume(ctx, limits, 'Too many requests. Try again in 15 minutes.')
}

/**
 * Counts an invitation by email, and returns whether it may be sent. These emails do not count towards the links that the address’s
 * owner can request.
 */
export async function mayMailInvitation(ctx: LimitContext, organizationId: string, email: string): Promise<boolean> {
  const limits = [
    {
      subject: `invitation ${organizationId} ${email}`,
      limit: MAX_INVITATIONS_PER_ADDRESS_AND_ORGANIZATION,
    },
    { subject: `invitation ${organizationId}`, limit: MAX_INVITATIONS },
    { subject: `invitation ${email}`, limit: MAX_INVITATIONS_PER_ADDRESS },
  ]
  try {
    await consume(ctx, limits, 'Too many invitations.')
    return true
  } catch (error) {
    if (error instanceof RateLimited) return false
    throw error
  }
}

const networksOf = ({ clientAddress }: LimitContext) => ({
  network: clientSubject(clientAddress),
  wideNetwork: wideClientSubject(clientAddress),
})

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

async function giveBack(ctx: Pick<Context, 'db'>, { subjects, day }: Counted): Promise<void> {
  await giveBackMany(ctx, subjects, day)
}
