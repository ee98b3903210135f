import { z } from 'zod'
import { described } from '../../core/described.ts'
import { DAY } from '../../core/time.ts'
import type { Certificate } from '../../network/outbound/outbound.ts'
import { oneLine } from '../result/probe-result.ts'

/** The words of `certificateDays`. */
export const certificateDaysWords = {
  label: 'Certificate warning',
  description:
    'The monitor is DEGRADED this many days before a certificate expires; 0: never. Default: 14 days, or a third of its validity if that is less.',
  hint: 'Degraded this many days before a certificate expires. 0: never. Empty: 14, or a third of its validity if that is less.',
  isRare: true,
} as const

/** The option with which a monitor says how early it warns of a certificate; see `expirySoon`. */
export const certificateDays = described(z.int().min(0).max(365).optional(), certificateDaysWords)

/** The option whether a certificate must be trusted. */
export const verifyCertificate = described(z.boolean().default(true), {
  label: 'The certificate must be valid',
  description: 'Whether the certificate must be trusted, if TLS is used.',
  isRare: true,
})

const CERTIFICATE = 'TLS certificate'

/** Returns whether a probe message reports a certificate that has expired or will soon. */
export const isCertificateProblem = (message: string): boolean =>
  new RegExp(`^${CERTIFICATE} (?:of .{1,400} )?(?:expires (?:in |within )|(?:has )?expired)`).test(message)

/** How many days before its end a certificate is reported at the latest, unless a monitor says otherwise. */
const USUAL_DAYS = 14

/**
 * Describes when a certificate expires, trusted or not; null: not soon.
 * @param given.certificateDays how many days before that is soon; absent: 14, or a third of the validity if that is less, so
 * that certificates that are valid for days only are not reported as soon as they are issued; 0: never.
 * @param given.host the host of the monitor. Certificates of others are named; absent: there are no others.
 */
export function expirySoon(
  { certificateDays: chosen, host }: { readonly certificateDays?: number | undefined; readonly host?: string },
  certificate: Certificate | null,
  now: Date,
): string | null {
  if (certificate === null || chosen === 0) return null
  const { validFrom, validTo } = certificate
  const leftMs = validTo.getTime() - now.getTime()
  const thirdMs = (validTo.getTime() - validFrom.getTime()) / 3
  const warnMs = chosen === undefined ? Math.min(USUAL_DAYS * DAY, thirdMs) : chosen * DAY
  if (leftMs >= Math.max(0, warnMs)) return null
  return `${nameOf(certificate, host)} ${leftMs < 0 ? `expired ${ago(-leftMs)}` : `expires ${inDays(leftMs)}`}`
}

/** Describes how long ago a certificate expired; null: it has another problem or none. */
export function expired(certificate: Certificate | null, host: string, now: Date): string | null {
  if (certificate?.problem !== 'CERT_HAS_EXPIRED') return null
  const agoMs = now.getTime() - certificate.validTo.getTime()
  return agoMs < 0 ? null : `${nameOf(certificate, host)} expired ${ago(agoMs)}`
}

function nameOf({ issuer, host }: Certificate, own = host): string {
  const parts = [
    ...(issuer === null ? [] : [` of the issuer ${oneLine(issuer, 64)}`]),
    ...(withoutBrackets(host) === withoutBrackets(own) ? [] : [` of ${host}`]),
  ]
  return `${CERTIFICATE}${parts.join('')}`
}

/** Returns a host as connections name it: without the brackets of URLs and a final dot. */
const withoutBrackets = (host: string) => host.replace(/^\[|[\].]$/g, '')

const ago = (ms: number) => (ms < DAY ? 'today' : `${days(ms)} ago`)

function inDays(ms: number): string {
  return ms < DAY ? 'within a day' : `in ${days(ms)}`
}

/** Formats milliseconds as whole days. */
export function days(ms: number): string {
  const count = Math.floor(ms / DAY)
  return count === 1 ? '1 day' : `${count} days`
}
