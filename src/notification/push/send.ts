import { z } from 'zod'
import type { Config } from '../../core/config.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { DAY, SECOND } from '../../core/time.ts'
import type { PushBrowser } from '../../generated/prisma/client.ts'
import { thirdParty } from '../../network/destination.ts'
import { chosenByOthers } from '../../network/outbound/outbound.ts'
import { isPushService } from '../../network/third-party-rate.ts'
import type { SendResult, SendTools } from '../channel/channel.ts'
import { post } from '../channel/post.ts'
import type { PushContent } from './content.ts'
import { encryptFor } from './encryption.ts'
import type { VapidKeys } from './vapid.ts'
import { contactOf, vapidHeader } from './vapid.ts'

const subscription = z.object({ endpoint: z.string(), p256dh: z.string(), auth: z.string() })

/** The subscription of a browser, with keys in base64url. */
export type PushSubscription = z.infer<typeof subscription>

/** Returns the purpose for which the subscription of a browser is sealed. */
export const sealedFor = (id: string) => `${id} subscription`

/** How long a push service keeps a notification for a browser that is not running, in seconds. */
const TTL = DAY / SECOND

/** What sending needs. */
export interface PushTools extends Pick<SendTools, 'outbound' | 'now'> {
  readonly seal: SecretBox
  readonly config: Pick<Config, 'MAIL_FROM'>
  readonly site: { readonly baseUrl: string }
}

/**
 * Sends a notification to a browser through its push service (RFC 8030), with the guarded outbound client: the browser,
 * and therefore anyone, names the endpoint. GONE: the subscription has ended. Never rejects, except for malformed data,
 * which is a bug.
 */
export function sendPush(
  { outbound, now, seal, config, site }: PushTools,
  vapid: VapidKeys,
  browser: Pick<PushBrowser, 'id' | 'subscription'>,
  content: PushContent,
): Promise<SendResult> {
  const { endpoint, p256dh, auth } = subscription.parse(
    JSON.parse(seal.open(browser.subscription, sealedFor(browser.id))),
  )
  const { hostname } = new URL(endpoint)
  // Private networks are up to the outbound client.
  if (!isPushService(hostname) && thirdParty(hostname) !== null) return Promise.resolve(foreign)
  const keys = { p256dh: Buffer.from(p256dh, 'base64url'), auth: Buffer.from(auth, 'base64url') }
  const headers = {
    authorization: vapidHeader(vapid, endpoint, contactOf(config, site.baseUrl), now()),
    'content-type': 'application/octet-stream',
    'content-encoding': 'aes128gcm',
    ttl: String(TTL),
    urgency: 'high',
    // The service drops an earlier, undelivered notification with the same topic.
    topic: topicOf(content.tag),
  }
  const body = encryptFor(keys, Buffer.from(JSON.stringify(content)))
  // The person chose the browser, not the organization.
  return post({ url: endpoint, body, headers }, { outbound: chosenByOthers(outbound), now }, ({ status }) =>
    lasting(status),
  )
}

/** The result for an endpoint that was stored before only push services were allowed. */
const foreign: SendResult = {
  kind: 'failed',
  status: null,
  message: 'The endpoint is not at the push service of a browser.',
  permanence: 'GONE',
  retryAfterMs: null,
}

/** Returns a topic of at most 32 characters of base64url (RFC 8030 §5.4), which our ids are. */
const topicOf = (tag: string) => tag.replace(/[^\w-]/g, '').slice(0, 32)

/** Returns the permanence of a response that is not a success; null if the failure is temporary. */
function lasting(status: number): 'REFUSED' | 'GONE' | null {
  if (status === 404 || status === 410) return 'GONE'
  return status >= 400 && status < 500 && status !== 408 && status !== 429 ? 'REFUSED' : null
}
