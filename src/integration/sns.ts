import { createVerify, X509Certificate } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { SECOND } from '../core/time.ts'
import { parseUrl } from '../core/url.ts'
import type { Answer, Failure, Outbound } from '../network/outbound/outbound.ts'
import type { Fields } from './kind/incoming.ts'
import { fieldsOf } from './kind/incoming.ts'
import { parsed } from './kinds.ts'

/** The content of an Amazon SNS body. */
export type SnsMessage =
  /** The text of a notification. */
  | { readonly kind: 'NOTIFICATION'; readonly message: string }
  /** The subscription was confirmed, or has ended. */
  | { readonly kind: 'DONE'; readonly note: string }
  /** Permanently invalid. */
  | { readonly kind: 'REFUSED'; readonly reason: string }
  /** Amazon did not answer; the body is read again later. */
  | { readonly kind: 'UNREACHABLE'; readonly reason: string }

type Request = Pick<Outbound, 'request'>

/** The only hosts that requests may go to, because a message can name any host. */
const HOST = /^sns\.[a-z0-9-]{1,40}\.amazonaws\.com(\.cn)?$/
const TIMEOUT_MS = 5 * SECOND
const MAX_BYTES = 32 * 1024

const certificates = new LRUCache<string, string>({ max: 50 })

/** Verifies the signature of an Amazon SNS body, and confirms a subscription. */
export async function readSns(outbound: Request, text: string, now: Date): Promise<SnsMessage> {
  const fields = fieldsOf(parsed(text))
  const signed = signedText(fields)
  if (signed === null) return refused('This is not an Amazon SNS message.')
  const certificate = await certificateOf(outbound, fields['SigningCertURL'], now)
  if (certificate.kind === 'INVALID') return refused('Its certificate is not from Amazon SNS.')
  if (certificate.kind === 'UNREACHABLE') {
    const reason = `The certificate of Amazon SNS could not be fetched: ${certificate.reason}`
    return { kind: 'UNREACHABLE', reason }
  }
  if (!isSignedBy(certificate.pem, fields, signed)) return refused('Its signature is invalid.')
  if (fields['Type'] === 'Notification') return { kind: 'NOTIFICATION', message: String(fields['Message']) }
  if (fields['Type'] === 'UnsubscribeConfirmation') return { kind: 'DONE', note: 'The subscription has ended.' }
  return confirm(outbound, fields['SubscribeURL'])
}

const refused = (reason: string): SnsMessage => ({ kind: 'REFUSED', reason })

async function confirm(outbound: Request, url: unknown): Promise<SnsMessage> {
  if (!isOfSns(url)) return refused('The URL that confirms the subscription is not an Amazon SNS URL.')
  const answer = await outbound.request({ url, maxBodyBytes: MAX_BYTES }, { timeoutMs: TIMEOUT_MS })
  const failure = temporaryFailure(answer)
  if (failure !== null) return { kind: 'UNREACHABLE', reason: `The subscription could not be confirmed: ${failure}` }
  if (answer.kind !== 'answer' || answer.status >= 300) return refused('Amazon SNS did not confirm the subscription.')
  return { kind: 'DONE', note: 'The subscription is confirmed.' }
}

/** Returns the topic of a notification, within which messages are read in order; null for other bodies. */
export function topicOf(text: string): string | null {
  const { Type: type, TopicArn: topic } = fieldsOf(parsed(text))
  return type === 'Notification' && typeof topic === 'string' ? topic : null
}

/** Returns why a request failed if it may succeed later; null if it succeeded or failed permanently. */
function temporaryFailure(answer: Answer | Failure): string | null {
  if (answer.kind === 'failed')
    return answer.reason === 'invalid' || answer.reason === 'forbidden' ? null : `${answer.message}.`
  const { status } = answer
  return status >= 500 || status === 408 || status === 429 ? `it answered with status ${status}.` : null
}

/**
 * Returns the text that is signed (Amazon SNS, "Verifying the signatures of Amazon SNS messages"), or null if fields are missing.
 */
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

type FetchedCertificate =
  | { readonly kind: 'VALID'; readonly pem: string }
  /** The URL is not an Amazon SNS URL, or its certificate is not valid now. */
  | { readonly kind: 'INVALID' }
  | { readonly kind: 'UNREACHABLE'; readonly reason: string }

const INVALID: FetchedCertificate = { kind: 'INVALID' }

/** Fetches a certificate, or returns the cached one. */
async function certificateOf(outbound: Request, url: unknown, now: Date): Promise<FetchedCertificate> {
  if (!isOfSns(url) || !new URL(url).pathname.endsWith('.pem')) return INVALID
  const known = certificates.get(url)
  if (known !== undefined && isValid(known, now)) return { kind: 'VALID', pem: known }
  const answer = await outbound.request({ url, maxBodyBytes: MAX_BYTES }, { timeoutMs: TIMEOUT_MS })
  const failure = temporaryFailure(answer)
  if (failure !== null) return { kind: 'UNREACHABLE', reason: failure }
  if (answer.kind !== 'answer' || answer.status !== 200) return INVALID
  const pem = answer.body.toString('latin1')
  if (!isValid(pem, now)) return INVALID
  certificates.set(url, pem)
  return { kind: 'VALID', pem }
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
