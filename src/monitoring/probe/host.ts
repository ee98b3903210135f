import { z } from 'zod'
import { readHost } from '../../network/outbound/host.ts'
import type { Failure } from '../../network/outbound.ts'
import type { Finding } from '../finding.ts'
import { found } from '../finding.ts'

/** A host to watch: a name, or an address in any spelling; read as its canonical text. */
export const hostText = z
  .string()
  .trim()
  .transform((text, ctx) => {
    const host = readHost(text)
    if (host !== null) return host.kind === 'address' ? host.address : host.name
    ctx.addIssue({ code: 'custom', message: 'must be a host name or an IP address' })
    return z.NEVER
  })

/** What it means for a monitor that its host could not be reached: down, or unknown when that says nothing of the host. */
export function notReached(host: string, { reason, fault, message, phases, address, certificate }: Failure): Finding {
  const unknown = fault === 'ours' || reason === 'forbidden' || reason === 'invalid'
  const detail = {
    phases,
    ...(address !== null && { address }),
    ...(certificate !== null && { certificateEndsAt: certificate.validTo.toISOString() }),
  }
  return found(unknown ? 'UNKNOWN' : 'DOWN', message, { detail, suspect: fault === 'unclear' ? host : null })
}
