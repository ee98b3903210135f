import { createHash } from 'node:crypto'
import { z } from 'zod'
import { privateTargetRule } from '../../account/private-targets/rule.ts'
import type { Quota } from '../../account/quota.ts'
import { consumeHourly } from '../../account/quota.ts'
import type { Context } from '../../core/context.ts'
import { transaction } from '../../core/context.ts'
import { Conflict, NotFound, RateLimited } from '../../core/errors.ts'
import { isIdOf, newId } from '../../core/id.ts'
import { HOUR } from '../../core/time.ts'
import { cappedText, validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import type { PushBrowser } from '../../generated/prisma/client.ts'
import { thirdParty } from '../../network/destination.ts'
import type { Outbound } from '../../network/outbound/outbound.ts'
import { isPushService } from '../../network/third-party-rate.ts'
import { requireUser } from '../../people/session.ts'
import { lockPerson } from '../../people/user.ts'
import type { SendResult } from '../channel/channel.ts'
import { webhookAddress } from '../channel/channel.ts'
import { areBrowserKeys } from './encryption.ts'
import { followOrganizations } from './follow.ts'
import type { PushSubscription, PushTools } from './send.ts'
import { sealedFor, sendPush } from './send.ts'
import { vapidKeys } from './vapid.ts'

/** The context of a person's operations on their browsers. */
export interface PushContext extends Context, Omit<PushTools, 'outbound' | 'config' | 'now'> {
  readonly usage: Quota
  readonly tools: { readonly outbound: Pick<Outbound, 'request'> }
}

/** How many browsers of a person get notifications. */
const MAX_BROWSERS = 10
/** How many tests a person can send in an hour. */
const MAX_TESTS = 30

/** A browser as its owner sees it. */
export type OwnBrowser = Pick<PushBrowser, 'id' | 'sessionId' | 'host' | 'createdAt'> & {
  readonly session: { readonly userAgent: string }
}

/** Returns the caller's browsers that get notifications, oldest first. */
export function browsersOf(ctx: Context): Promise<OwnBrowser[]> {
  const { userId } = requireUser(ctx)
  const select = { id: true, sessionId: true, host: true, createdAt: true, session: { select: { userAgent: true } } }
  return ctx.db.pushBrowser.findMany({ where: { userId }, select, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })
}

/** Returns the key that a browser gives its push service, in base64url. */
export const applicationKey = async (ctx: PushContext): Promise<string> => (await vapidKeys(ctx)).publicKey

const base64url = (bytes: number) =>
  cappedText(200).refine(
    (text) => /^[\w-]{1,100}={0,2}$/.test(text) && Buffer.from(text, 'base64url').length === bytes,
    {
      message: `must be ${bytes} bytes in base64url`,
      abort: true,
    },
  )

const keysInput = z
  .object({ p256dh: base64url(65), auth: base64url(16) })
  .refine(
    ({ p256dh, auth }) =>
      areBrowserKeys({ p256dh: Buffer.from(p256dh, 'base64url'), auth: Buffer.from(auth, 'base64url') }),
    { message: 'must be a point on P-256', path: ['p256dh'] },
  )

/**
 * A push service must be that of a browser, or in a private network if these are allowed: anyone can name one, and
 * notifications must not reach other servers.
 */
const endpointOf = (allowsPrivate: boolean) =>
  webhookAddress(
    ({ protocol, hostname }) => {
      if (allowsPrivate && thirdParty(hostname) === null) return null
      if (protocol !== 'https:') return 'must begin with https://'
      return isPushService(hostname) ? null : 'must be at the push service of a browser'
    },
    ({ hostname }) => hostname,
  )

/**
 * Subscribes the browser of the caller's session to notifications, replacing an earlier subscription of the session.
 * @param input endpoint and keys, as the browser returns them.
 * @throws Invalid.
 * @throws Conflict for more than ten browsers.
 */
export async function addBrowser(ctx: PushContext & ChangeContext, input: unknown): Promise<void> {
  const { userId, sessionId } = requireUser(ctx)
  const keys = validate(keysInput, input)
  // A browser is that of a person, who can be in many organizations.
  const { isAllowed } = await privateTargetRule(ctx, null)
  const { endpoint } = validate(z.object({ endpoint: endpointOf(isAllowed) }), input)
  const endpointHash = createHash('sha256').update(endpoint.text).digest('hex')
  const id = newId('PushBrowser')
  const subscription: PushSubscription = { endpoint: endpoint.text, ...keys }
  await transaction(ctx, async ({ db, now }) => {
    // Locks the person, so that concurrent calls stay within the limit.
    await lockPerson(db, userId)
    await db.pushBrowser.deleteMany({ where: { OR: [{ sessionId }, { endpointHash }] } })
    if ((await db.pushBrowser.count({ where: { userId } })) >= MAX_BROWSERS) {
      throw new Conflict(`You can get notifications in at most ${MAX_BROWSERS} browsers. Remove one first.`)
    }
    const sealed = ctx.seal.seal(JSON.stringify(subscription), sealedFor(id))
    const about = { id, userId, sessionId, endpointHash, host: endpoint.destination, createdAt: now() }
    await db.pushBrowser.create({ data: { ...about, subscription: sealed } })
    await followOrganizations(db)
  })
}

/**
 * Updates the subscription of the caller's session after the browser or its push service has replaced it.
 * @throws NotFound if the session has none, because the person has turned notifications off.
 */
export async function renewBrowser(ctx: PushContext & ChangeContext, input: unknown): Promise<void> {
  const { sessionId } = requireUser(ctx)
  const before = await ctx.db.pushBrowser.findFirst({ where: { sessionId }, select: { id: true } })
  if (before === null) throw new NotFound('Browser not found.')
  await addBrowser(ctx, input)
}

/** Stops notifications to one of the caller's browsers. @throws NotFound for any other browser. */
export async function removeBrowser(ctx: Context, id: string): Promise<void> {
  const { userId } = requireUser(ctx)
  const { count } = await ctx.db.pushBrowser.deleteMany({ where: { id: isIdOf('PushBrowser', id) ? id : '', userId } })
  if (count === 0) throw new NotFound('Browser not found.')
}

/** The response of a push service to a test. */
export interface PushTest {
  readonly host: string
  readonly result: SendResult
}

/**
 * Sends a notification to one of the caller's browsers now, and returns the response of its push service. Removes a
 * browser whose subscription has ended.
 * @param path the console path that it opens.
 * @throws NotFound.
 * @throws RateLimited after 30 tests in an hour.
 */
export async function testBrowser(ctx: PushContext, id: string, path: string): Promise<PushTest> {
  const { userId } = requireUser(ctx)
  const now = ctx.now()
  const where = { id: isIdOf('PushBrowser', id) ? id : '', userId }
  const browser = await ctx.db.pushBrowser.findFirst({ where })
  if (browser === null) throw new NotFound('Browser not found.')
  if (!(await consumeHourly(ctx.usage, `push test ${userId}`, now, MAX_TESTS))) {
    throw new RateLimited('You have sent too many tests. Try again later.', new Date(now.getTime() + HOUR))
  }
  const content = { title: 'Allclear', body: 'Notifications work in this browser.', path, tag: 'test' }
  const result = await sendPush({ ...ctx, outbound: ctx.tools.outbound }, await vapidKeys(ctx), browser, content)
  if (result.kind === 'failed' && result.permanence === 'GONE') await ctx.db.pushBrowser.deleteMany({ where })
  return { host: browser.host, result }
}
