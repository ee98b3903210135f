import { createHmac, timingSafeEqual } from 'node:crypto'
import { SECOND } from '../time.ts'

/** A delivery as it came: the signatures are over the very bytes of its body. */
export interface Delivery {
  /** The body, as UTF-8 text that gives the same bytes again. */
  readonly body: string
  /** The signature's header; undefined when there is none. */
  readonly header: string | undefined
}

/** How old a delivery may be, in seconds: what was listened to cannot be sent again later. */
export const TOLERANCE = 300

/**
 * Whether a delivery was signed with the secret of a Stripe webhook, not more than five minutes ago. `t` is the time in epoch
 * seconds, each `v1` the HMAC-SHA256 of the time, a dot and the body; while a secret is exchanged there are several, and one
 * that holds is enough: https://docs.stripe.com/webhooks#verify-manually. In what it takes for a header it follows the
 * provider's library to the letter, which takes times in the future too, and refuses a header with an empty `v1`.
 */
export function isSignedByStripe({ body, header }: Delivery, secret: string, now: Date): boolean {
  if (!isReadable(header) || body === '' || secret.trim() === '') return false
  const time = timeIn(header)
  const signatures = itemsOf(header)
    .filter(([name]) => name === 'v1')
    .map(([, signature = '']) => signature)
  if (time === -1 || signatures.includes('')) return false
  const expected = hmac(secret, `${time}.${body}`)
  return Math.floor(now.getTime() / SECOND) - time <= TOLERANCE && signatures.some((given) => isSame(given, expected))
}

/**
 * Whether a header is worth a check: the library would take a time that is no number for one that is never too old, and would
 * trip over what is not ASCII.
 */
export function isReadable(header: string | undefined): header is string {
  return header !== undefined && /^[\x20-\x7e]+$/.test(header) && !Number.isNaN(timeIn(header))
}

const itemsOf = (header: string) => header.split(',').map((item) => item.split('='))

/** The last one counts. */
function timeIn(header: string): number {
  return Number.parseInt(itemsOf(header).findLast(([name]) => name === 't')?.[1] ?? '', 10)
}

/**
 * Whether a delivery was signed with the secret of a BTCPay webhook: `sha256=` and the HMAC-SHA256 of the body, in hex. It has
 * no time, so that whoever listened can send it again: nothing may be believed of it but that something has changed.
 */
export function isSignedByBtcpay({ body, header }: Delivery, secret: string): boolean {
  return header !== undefined && isSame(header, `sha256=${hmac(secret, body)}`)
}

function hmac(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text, 'utf8').digest('hex')
}

/** In a time that does not tell how much of it is right. */
function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}
