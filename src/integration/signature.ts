import { createHmac, timingSafeEqual } from 'node:crypto'
import { MINUTE, SECOND } from '../core/time.ts'
import type { IntegrationKind } from '../generated/prisma/enums.ts'

/** The signed parts of a request. */
export interface SignedRequest {
  readonly body: Buffer
  /** Returns a header, or undefined. */
  readonly header: (name: string) => string | undefined
}

/** The HMAC-SHA256 signatures of the body, in hex, by kind. */
const signatures: Partial<Record<IntegrationKind, (request: SignedRequest) => readonly string[]>> = {
  // PagerDuty sends two while its secret is rotated: v1=…,v1=…
  PAGERDUTY: ({ header }) =>
    (header('x-pagerduty-signature') ?? '')
      .slice(0, 1000)
      .split(',')
      .flatMap((each) => (each.trim().startsWith('v1=') ? [each.trim().slice(3)] : [])),
  SENTRY: ({ header }) => [header('sentry-hook-signature') ?? ''],
  GRAFANA: ({ header }) => [header('x-grafana-alerting-signature') ?? ''],
}

/** Grafana signs the body, or the timestamp and the body if the contact point sends the timestamp header. */
function signedPart(kind: IntegrationKind, { body, header }: SignedRequest): Buffer {
  const time = kind === 'GRAFANA' ? header('x-grafana-alerting-signature-timestamp') : undefined
  return time === undefined ? body : Buffer.concat([Buffer.from(`${time}:`), body])
}

/** The maximum difference between our clock and the time of a Standard Webhooks signature, as in their libraries. */
const TOLERANCE = 5 * MINUTE

/** The form of a Standard Webhooks secret: 24 to 64 bytes in base64. */
const STANDARD_SECRET = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/

/** Returns the key in a Standard Webhooks secret; null for other texts. */
function standardKey(secret: string): Buffer | null {
  const [, text = ''] = STANDARD_SECRET.exec(secret) ?? []
  const key = Buffer.from(text, 'base64')
  return key.length >= 24 && key.length <= 64 ? key : null
}

/** Verifies a signature as defined by Standard Webhooks 1.0 (https://www.standardwebhooks.com). */
function isSignedByStandard(secret: string, { body, header }: SignedRequest, now: Date): boolean {
  const key = standardKey(secret)
  const [id, time, given] = ['id', 'timestamp', 'signature'].map((name) => header(`webhook-${name}`) ?? '')
  if (key === null || !id || !/^\d{1,12}$/.test(time ?? '')) return false
  if (Math.abs(Number(time) * SECOND - now.getTime()) > TOLERANCE) return false
  const expected = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest()
  return (given ?? '')
    .slice(0, 1000)
    .split(' ')
    .some((each) => {
      const bytes = each.startsWith('v1,') ? Buffer.from(each.slice(3), 'base64') : null
      return bytes?.length === expected.length && timingSafeEqual(bytes, expected)
    })
}

/** Returns whether senders of a kind can sign with a shared secret. */
export const canSign = (kind: IntegrationKind): boolean => kind === 'GENERIC' || kind in signatures

/** Returns why a text cannot be the signing secret of a kind, or null if it can. */
export function secretProblem(kind: IntegrationKind, secret: string): string | null {
  if (!canSign(kind)) return 'is only for GENERIC, GRAFANA, PAGERDUTY and SENTRY'
  return kind !== 'GENERIC' || standardKey(secret) !== null
    ? null
    : 'must be a Standard Webhooks secret: whsec_ and 24 to 64 bytes in base64'
}

/** Returns whether a request is signed with the secret; true for kinds without a shared secret. */
export function isSigned(kind: IntegrationKind, secret: string, request: SignedRequest, now: Date): boolean {
  if (kind === 'GENERIC') return isSignedByStandard(secret, request, now)
  const given = signatures[kind]?.(request)
  if (given === undefined) return true
  const expected = createHmac('sha256', secret).update(signedPart(kind, request)).digest()
  return given.some((each) => {
    const bytes = /^[0-9a-f]{64}$/i.test(each) ? Buffer.from(each, 'hex') : null
    return bytes !== null && timingSafeEqual(bytes, expected)
  })
}
