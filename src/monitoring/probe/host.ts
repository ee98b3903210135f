import { z } from 'zod'
import { readHost } from '../../network/outbound/host.ts'
import type { Failure } from '../../network/outbound.ts'
import type { ProbeResult } from '../probe-result.ts'
import { probeResult } from '../probe-result.ts'

/** A host name, or an address in any spelling; normalized. */
export const hostText = z
  .string()
  .trim()
  .transform((text, ctx) => {
    const host = readHost(text)
    if (host !== null) return host.kind === 'address' ? host.address : host.name
    ctx.addIssue({ code: 'custom', message: 'must be a host name or an IP address' })
    return z.NEVER
  })

/** Returns the result of an unreachable host: DOWN, or UNKNOWN when the failure says nothing about the host. */
export function unreachableResult(
  host: string,
  { reason, fault, message, phases, address, certificate }: Failure,
): ProbeResult {
  const unknown = fault === 'ours' || reason === 'forbidden' || reason === 'invalid'
  const detail = {
    phases,
    ...(address !== null && { address }),
    ...(certificate !== null && { certificateEndsAt: certificate.validTo.toISOString() }),
  }
  return probeResult(unknown ? 'UNKNOWN' : 'DOWN', message, { detail, suspect: fault === 'unclear' ? host : null })
}
