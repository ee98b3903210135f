import type { DomainProof, DomainState } from '../generated/prisma/enums.ts'
import { DAY, HOUR, MINUTE } from '../time.ts'

/**
 * What a check of a domain found: the proof it holds; NONE: it surely holds none; UNKNOWN: that could not be found out;
 * FORBIDDEN: it may not be used, whoever holds it.
 */
export type Found = DomainProof | 'NONE' | 'UNKNOWN' | 'FORBIDDEN'

/** How far the proof of a domain is. */
export interface DomainProgress {
  readonly state: DomainState
  /** By what it was proven last; null: it never was. */
  readonly provenBy: DomainProof | null
  /** Since when a proven domain has shown no proof; null: it showed it last. */
  readonly failingSince: Date | null
  /** When it is next checked; null: not until it is asked for again. */
  readonly dueAt: Date | null
}

/** For how long a proven domain is served without showing its proof: name servers and web servers have outages. */
export const GRACE = 3 * DAY
/** How often a proven domain is checked, and one whose proof is missing. */
const EVERY = 6 * HOUR
const SOON = HOUR
/** How soon to check again what could not be found out. */
const UNCLEAR = 10 * MINUTE
/** For how long after it was asked for, or lost, a domain is looked at without a proof. */
const PATIENCE = 7 * DAY

/**
 * Where a domain stands after a check.
 * @param since when it was asked for, or lost.
 */
export function afterCheck(before: DomainProgress, found: Found, since: Date, now: Date): DomainProgress {
  const in_ = (milliseconds: number) => new Date(now.getTime() + milliseconds)
  if (found === 'UNKNOWN') return { ...before, dueAt: in_(UNCLEAR) }
  if (found === 'TXT' || found === 'PATH') {
    return { state: 'PROVEN', provenBy: found, failingSince: null, dueAt: in_(EVERY) }
  }
  if (before.state !== 'PROVEN') return { ...before, dueAt: nextLook(since, now) }
  const failingSince = before.failingSince ?? now
  const isLost = found === 'FORBIDDEN' || now.getTime() - failingSince.getTime() >= GRACE
  return isLost
    ? { ...before, state: 'LOST', failingSince: null, dueAt: in_(SOON) }
    : { ...before, failingSince, dueAt: in_(SOON) }
}

/** The longer it has been waited for, the later; null: long enough. */
function nextLook(since: Date, now: Date): Date | null {
  const waited = now.getTime() - since.getTime()
  if (waited >= PATIENCE) return null
  return new Date(now.getTime() + (waited < HOUR ? MINUTE : waited < DAY ? UNCLEAR : SOON))
}

/**
 * Whether one organization's proof takes a domain that another has proven: only control of the DNS beats a file, which may
 * be left over from before the domain changed hands.
 */
export function outweighs(challenger: DomainProof, holder: DomainProof | null): boolean {
  return challenger === 'TXT' && holder === 'PATH'
}
