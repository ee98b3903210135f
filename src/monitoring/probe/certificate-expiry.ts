import { DAY } from '../../core/time.ts'
import type { Certificate } from '../../network/outbound/outbound.ts'

const CERTIFICATE = 'TLS certificate'

/** Returns whether a probe message reports a certificate that has expired or will soon. */
export const isCertificateProblem = (message: string): boolean => message.startsWith(`${CERTIFICATE} expire`)

/** Describes when a trusted certificate expires; null: not soon. */
export function expirySoon(
  { verifyCertificate, certificateDays }: { readonly verifyCertificate: boolean; readonly certificateDays: number },
  certificate: Certificate | null,
  now: Date,
): string | null {
  if (certificate === null || !verifyCertificate) return null
  const leftMs = certificate.validTo.getTime() - now.getTime()
  return leftMs < certificateDays * DAY ? `${CERTIFICATE} expires ${inDays(leftMs)}` : null
}

/** Describes how long ago a certificate expired; null: it has another problem or none. */
export function expired(certificate: Certificate | null, now: Date): string | null {
  const agoMs = now.getTime() - (certificate?.validTo.getTime() ?? Number.POSITIVE_INFINITY)
  if (certificate?.problem !== 'CERT_HAS_EXPIRED' || agoMs < 0) return null
  return `${CERTIFICATE} expired ${agoMs < DAY ? 'today' : `${days(agoMs)} ago`}`
}

function inDays(ms: number): string {
  return ms < DAY ? 'within a day' : `in ${days(ms)}`
}

/** Formats milliseconds as whole days. */
export function days(ms: number): string {
  const count = Math.floor(ms / DAY)
  return count === 1 ? '1 day' : `${count} days`
}
