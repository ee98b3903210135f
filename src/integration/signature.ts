import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IntegrationKind } from '../generated/prisma/enums.ts'

/** A request of a sender, as far as signatures are about it. */
export interface SignedRequest {
  readonly body: Buffer
  /** Returns a header; undefined: there is none. */
  readonly header: (name: string) => string | undefined
}

/** Where each kind that signs with a shared secret has its HMAC-SHA256 of the body, in hex. */
const signatures: Partial<Record<IntegrationKind, (request: SignedRequest) => readonly string[]>> = {
  // Several while PagerDuty changes its secret: v1=…,v1=…
  PAGERDUTY: ({ header }) =>
    (header('x-pagerduty-signature') ?? '')
      .slice(0, 1000)
      .split(',')
      .flatMap((each) => (each.trim().startsWith('v1=') ? [each.trim().slice(3)] : [])),
  SENTRY: ({ header }) => [header('sentry-hook-signature') ?? ''],
  GRAFANA: ({ header }) => [header('x-grafana-alerting-signature') ?? ''],
}

/** What Grafana signs: the body, or, where its contact point has the timestamp header of its documentation, that and the body. */
function signedPart(kind: IntegrationKind, { body, header }: SignedRequest): Buffer {
  const time = kind === 'GRAFANA' ? header('x-grafana-alerting-signature-timestamp') : undefined
  return time === undefined ? body : Buffer.concat([Buffer.from(`${time}:`), body])
}

/** Returns whether senders of a kind can sign with a shared secret. */
export const canSign = (kind: IntegrationKind): boolean => kind in signatures

/** Returns whether a request is signed with the secret; true for kinds that do not sign so. */
export function isSigned(kind: IntegrationKind, secret: string, request: SignedRequest): boolean {
  const given = signatures[kind]?.(request)
  if (given === undefined) return true
  const expected = createHmac('sha256', secret).update(signedPart(kind, request)).digest()
  return given.some((each) => {
    const bytes = /^[0-9a-f]{64}$/i.test(each) ? Buffer.from(each, 'hex') : null
    return bytes !== null && timingSafeEqual(bytes, expected)
  })
}
