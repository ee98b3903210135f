import { z } from 'zod'
import { described, named } from '../../core/described.ts'
import type { Issue } from '../../core/errors.ts'
import { trimmedText } from '../../core/validation.ts'
import type { PrivateTargetRule } from '../../network/outbound/destination-policy.ts'
import { isMetadataName, reachOf, targetIssue } from '../../network/outbound/destination-policy.ts'
import { hostProblem, readHost } from '../../network/outbound/host.ts'
import type { Failure } from '../../network/outbound/outbound.ts'
import { specialUseOf } from '../../network/special-use-name.ts'
import type { ProbeResult } from '../result/probe-result.ts'
import { probeResult } from '../result/probe-result.ts'
import { expired } from './certificate-expiry.ts'

const host = trimmedText(1024).transform((text, ctx) => {
  const read = readHost(text)
  const problem = hostProblem(text)
  if (read !== null && problem === null) return read.kind === 'address' ? read.address : read.name
  ctx.addIssue({ code: 'custom', message: problem ?? 'must be a host name or an IP address' })
  return z.NEVER
})

/** The option with a host name, or an address in any notation. Normalizes it. */
export const hostText = described(host, { label: 'Host', description: 'The host name or address.' })

/** The IP version to connect with; absent: whichever works. */
export const ipVersion = named(z.union([z.literal(4), z.literal(6)]), { name: 'Int' }).optional()

/** The option with a port. */
export const portNumber = described(z.int().min(1).max(65_535), { label: 'Port', description: 'The port.' })

/**
 * Returns why a host is not allowed. Does not resolve its name; the probe checks resolved addresses.
 * @param throughProxy whether a proxy resolves the name, which may know other names than we do, such as those of Tor.
 */
export function hostRefusals(member: string, text: string, rule: PrivateTargetRule, throughProxy = false): Issue[] {
  const host = readHost(text)
  const special = host?.kind === 'name' && !throughProxy ? specialUseOf(host.name) : null
  if (special !== null && (!special.isLocal || !rule.isAllowed)) {
    const message = `must be a public name: ${special.reason}`
    return [targetIssue([member], message, { isPrivate: special.isLocal, rule })]
  }
  const reach = reachOfHost(host)
  if (reach === 'public' || (reach === 'private' && rule.isAllowed)) return []
  return [targetIssue([member], 'must be a public address', { isPrivate: reach === 'private', rule })]
}

function reachOfHost(host: ReturnType<typeof readHost>) {
  if (host?.kind === 'address') return reachOf(host.address)
  if (host?.kind === 'this machine') return 'private'
  return host !== null && isMetadataName(host.name) ? 'never' : 'public'
}

/**
 * Returns the result for an unreachable host: DOWN, or UNKNOWN if the failure says nothing about the host.
 * @param now the time for which to say how long ago a certificate expired.
 */
export function unreachableResult(host: string, failure: Failure, now: Date): ProbeResult {
  const { reason, fault, phases, address, certificate } = failure
  const message = (reason === 'certificate' ? expired(certificate, host, now) : null) ?? failure.message
  const isPrivate = reason === 'private'
  const unknown = fault === 'ours' || isPrivate || reason === 'forbidden' || reason === 'invalid'
  const detail = {
    phases,
    ...(address !== null && { address }),
    ...(certificate !== null && { certificateEndsAt: certificate.validTo.toISOString() }),
    ...(isPrivate && { isPrivateTarget: true as const }),
  }
  return probeResult(unknown ? 'UNKNOWN' : 'DOWN', message, { detail, suspect: fault === 'unclear' ? host : null })
}
