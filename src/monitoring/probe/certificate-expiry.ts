import { DAY } from '../../core/time.ts'
import type { Certificate } from '../../network/outbound.ts'

const CERTIFICATE = 'TLS certificate'

/** Returns whether the message of a probe is about a certificate that has expired or will soon. */
export const isCertificateProblem = (message: string): boolean => message.startsWith(`${CERTIFICATE} expire`)

/** Returns when a trusted certificate expires, if that is soon; else null. */
export function expirySoon(
  { verifyCertificate, certificateDays }: { readonly verifyCertificate: boolean; readonly certificateDays: number },
  certificate: Certificate | null,
  now: Date,
): string | null {
  if (certificate === null || !verifyCertificate) return null
  const leftMs = certificate.validTo.getTime() - now.getTime()
  return leftMs < certificateDays * DAY ? `${CERTIFICATE} expires ${inDays(leftMs)}` : null
}

/** Returns how long ago the certificate expired; null when it has another problem. */
export function expired(certificate: Certificate | null, now: Date): string | null {
  const agoMs = now.getTime() - (certificate?.validTo.getTime() ?? Number.POSITIVE_INFINITY)
  if (certificate?.problem !== 'CERT_HAS_EXPIRED' || agoMs < 0) return null
  return `${CERTIFICATE} expired ${agoMs < DAY ? 'today' : `${days(agoMs)} ago`}`
}

function inDays(ms: number): string {
  return ms < DAY ? 'within a day' : `in ${days(ms)}`
}

/** Returns a time in whole days, in words. @param ms milliseconds. */
export function days(ms: number): string {
  const count = Math.floor(ms / DAY)
  return count === 1 ? '1 day' : `${count} days`
}
