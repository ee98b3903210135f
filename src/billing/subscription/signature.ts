import { createHmac } from 'node:crypto'
import { isEqualInConstantTime } from '../../core/constant-time.ts'
import { SECOND } from '../../core/time.ts'

/** A webhook request; its signature covers the exact bytes of the body. */
export interface WebhookRequest {
  /** The body as UTF-8 text that encodes to the same bytes. */
  readonly body: string
  /** The signature header, or undefined. */
  readonly header: string | undefined
}

/** The maximum age of a signed request, in seconds. It prevents replays. */
export const TOLERANCE_SECONDS = 300

/**
 * Returns whether a request was signed with the secret of a Stripe webhook within the last five minutes. `t` is the
 * time in epoch seconds, each `v1` the HMAC-SHA256 of the time, a dot and the body. During a rotation of the secret
 * there are several signatures, and one valid one is enough: https://docs.stripe.com/webhooks#verify-manually. Parses
 * the header exactly as Stripe's library does, which accepts future times and rejects a header with an empty `v1`.
 */
export function isSignedByStripe({ body, header }: WebhookRequest, secret: string, now: Date): boolean {
  if (!isParsableHeader(header) || body === '' || secret.trim() === '') return false
  const time = timestampOf(header)
  const signatures = parseItems(header)
    .filter(([name]) => name === 'v1')
    .map(([, signature = '']) => signature)
  if (time === -1 || signatures.includes('')) return false
  const expected = hmac(secret, `${time}.${body}`)
  return (
    Math.floor(now.getTime() / SECOND) - time <= TOLERANCE_SECONDS &&
    signatures.some((given) => isEqualInConstantTime(given, expected))
  )
}

/**
 * Returns whether a header can be verified. Stripe's library would accept a time that is not a number at any age, and
 * would fail on non-ASCII text.
 */
export function isParsableHeader(header: string | undefined): header is string {
  return header !== undefined && /^[\x20-\x7e]+$/.test(header) && !Number.isNaN(timestampOf(header))
}

const parseItems = (header: string) => header.split(',').map((item) => item.split('='))

/** Returns the last `t` of a header. */
function timestampOf(header: string): number {
  return Number.parseInt(parseItems(header).findLast(([name]) => name === 't')?.[1] ?? '', 10)
}

/**
 * Returns whether a request was signed with the secret of a BTCPay webhook: `sha256=` and the HMAC-SHA256 of the
 * body, in hex. The signature has no time, so a request can be replayed: treat it only as a hint that an invoice
 * changed.
 */
export function isSignedByBtcpay({ body, header }: WebhookRequest, secret: string): boolean {
  return header !== undefined && isEqualInConstantTime(header, `sha256=${hmac(secret, body)}`)
}

function hmac(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text, 'utf8').digest('hex')
}
