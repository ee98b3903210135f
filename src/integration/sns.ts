import { createVerify, X509Certificate } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { SECOND } from '../core/time.ts'
import { parseUrl } from '../core/url.ts'
import type { Outbound } from '../network/outbound.ts'
import type { Fields } from './incoming.ts'
import { fieldsOf } from './incoming.ts'
import { parsed } from './kinds.ts'

/** What a body of Amazon SNS is. */
export type SnsMessage =
  /** The message of a notification, as text. */
  | { readonly kind: 'NOTIFICATION'; readonly message: string }
  /** The subscription was confirmed, or ended. */
  | { readonly kind: 'DONE'; readonly note: string }
  | { readonly kind: 'REFUSED'; readonly reason: string }

type Request = Pick<Outbound, 'request'>

/** The only hosts that are asked for certificates and confirmations: a message may name any. */
const HOST = /^sns\.[a-z0-9-]{1,40}\.amazonaws\.com(\.cn)?$/
const TIMEOUT_MS = 5 * SECOND
const MAX_BYTES = 32 * 1024

const certificates = new LRUCache<string, string>({ max: 50 })

/** Checks the signature of a body of Amazon SNS, and confirms a subscription. */
export async function readSns(outbound: Request, text: string, now: Date): Promise<SnsMessage> {
  const fields = fieldsOf(parsed(text))
  const signed = signedText(fields)
  if (signed === null) return refused('It is no message of Amazon SNS.')
  const certificate = await certificateOf(outbound, fields['SigningCertURL'], now)
  if (certificate === null) return refused('Its certificate is not one of Amazon SNS.')
  if (!isSignedBy(certificate, fields, signed)) return refused('Its signature is invalid.')
  if (fields['Type'] === 'Notification') return { kind: 'NOTIFICATION', message: String(fields['Message']) }
  if (fields['Type'] === 'UnsubscribeConfirmation') return { kind: 'DONE', note: 'The subscription has ended.' }
  return confirm(outbound, fields['SubscribeURL'])
}

const refused = (reason: string): SnsMessage => ({ kind: 'REFUSED', reason })

async function confirm(outbound: Request, url: unknown): Promise<SnsMessage> {
  if (!isOfSns(url)) return refused('The address that confirms the subscription is not one of Amazon SNS.')
  const answer = await outbound.request({ url, maxBodyBytes: MAX_BYTES }, { timeoutMs: TIMEOUT_MS })
  if (answer.kind !== 'answer' || answer.status >= 300) return refused('Amazon SNS did not confirm the subscription.')
  return { kind: 'DONE', note: 'The subscription is confirmed.' }
}

/** Returns the text that is signed (Amazon SNS, "Verifying the signatures of Amazon SNS messages"); null: it is none. */
function signedText(fields: Fields): string | null {
  const names =
    fields['Type'] === 'Notification'
      ? ['Message', 'MessageId', ...('Subject' in fields ? ['Subject'] : []), 'Timestamp', 'TopicArn', 'Type']
      : fields['Type'] === 'SubscriptionConfirmation' || fields['Type'] === 'UnsubscribeConfirmation'
        ? ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
        : []
  if (names.length === 0 || names.some((name) => typeof fields[name] !== 'string')) return null
  return names.map((name) => `${name}\n${String(fields[name])}\n`).join('')
}

function isSignedBy(certificate: string, { SignatureVersion, Signature }: Fields, text: string): boolean {
  const algorithm = SignatureVersion === '1' ? 'RSA-SHA1' : SignatureVersion === '2' ? 'RSA-SHA256' : null
  if (algorithm === null || typeof Signature !== 'string') return false
  try {
    return createVerify(algorithm).update(text).verify(certificate, Signature, 'base64')
  } catch {
    return false
  }
}

/** Fetches a certificate; null: the address is not one of Amazon SNS, or there is none that is valid now. */
async function certificateOf(outbound: Request, url: unknown, now: Date): Promise<string | null> {
  if (!isOfSns(url) || !new URL(url).pathname.endsWith('.pem')) return null
  const known = certificates.get(url)
  if (known !== undefined && isValid(known, now)) return known
  const answer = await outbound.request({ url, maxBodyBytes: MAX_BYTES }, { timeoutMs: TIMEOUT_MS })
  if (answer.kind !== 'answer' || answer.status !== 200) return null
  const pem = answer.body.toString('latin1')
  if (!isValid(pem, now)) return null
  certificates.set(url, pem)
  return pem
}

function isValid(pem: string, now: Date): boolean {
  try {
    const { validFrom, validTo } = new X509Certificate(pem)
    return new Date(validFrom) <= now && now <= new Date(validTo)
  } catch {
    return false
  }
}

function isOfSns(url: unknown): url is string {
  const parsed = typeof url === 'string' && url.length <= 2000 ? parseUrl(url) : null
  if (parsed === null) return false
  const { protocol, hostname, port, username, password } = parsed
  return protocol === 'https:' && HOST.test(hostname) && port === '' && username === '' && password === ''
}
