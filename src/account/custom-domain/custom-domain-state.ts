import { DAY, HOUR, MINUTE } from '../../core/time.ts'
import type { DomainProof, DomainState } from '../../generated/prisma/enums.ts'

/**
 * The result of a domain check: the proof that was found, or NONE: there is no proof; UNKNOWN: the check failed; FORBIDDEN: the
 * domain cannot be used.
 */
export type ProofResult = DomainProof | 'NONE' | 'UNKNOWN' | 'FORBIDDEN'

/** The verification state of a domain. */
export interface DomainProgress {
  readonly state: DomainState
  /** The kind of the last proof; null: never proven. */
  readonly provenBy: DomainProof | null
  /** When the proof of a proven domain went missing; null: it is present. */
  readonly failingSince: Date | null
  /** The time of the next check; null: none until the domain is requested again. */
  readonly dueAt: Date | null
}

/** How long a proven domain is served without its proof, because name servers and web servers have outages. */
export const GRACE = 3 * DAY
/** The check intervals of proven domains, and of proven domains whose proof is missing. */
const PROVEN_INTERVAL = 6 * HOUR
const UNPROVEN_INTERVAL = HOUR
/** The check interval after an unknown result. */
const UNKNOWN_INTERVAL = 10 * MINUTE
/** How long we look for the proof of a domain after it was requested or lost. */
const PROOF_TIMEOUT = 7 * DAY

/**
 * Returns the state of a domain after a check.
 * @param since when the domain was requested or lost.
 */
export function afterCheck(before: DomainProgress, found: ProofResult, since: Date, now: Date): DomainProgress {
  const after = (milliseconds: number) => new Date(now.getTime() + milliseconds)
  if (found === 'UNKNOWN') return { ...before, dueAt: after(UNKNOWN_INTERVAL) }
  if (found === 'TXT' || found === 'PATH') {
    return { state: 'PROVEN', provenBy: found, failingSince: null, dueAt: after(PROVEN_INTERVAL) }
  }
  if (before.state !== 'PROVEN') return { ...before, dueAt: nextCheck(since, now) }
  const failingSince = before.failingSince ?? now
  const isLost = found === 'FORBIDDEN' || now.getTime() - failingSince.getTime() >= GRACE
  return isLost
    ? { ...before, state: 'LOST', failingSince: null, dueAt: after(UNPROVEN_INTERVAL) }
    : { ...before, failingSince, dueAt: after(UNPROVEN_INTERVAL) }
}

/** Returns the time of the next check, which is later the longer the domain has waited. Null: no more checks. */
function nextCheck(since: Date, now: Date): Date | null {
  const waited = now.getTime() - since.getTime()
  if (waited >= PROOF_TIMEOUT) return null
  return new Date(now.getTime() + (waited < HOUR ? MINUTE : waited < DAY ? UNKNOWN_INTERVAL : UNPROVEN_INTERVAL))
}

/**
 * Returns whether a proof takes a domain from another organization. Only a DNS record beats a file, which may be left over from a
 * previous owner of the domain.
 */
export function outweighs(challenger: DomainProof, holder: DomainProof | null): boolean {
  return challenger === 'TXT' && holder === 'PATH'
}
