import type { Geo } from './geo.ts'

/** Why a list gave no usable answer (contract §2). Such a list has neither listed nor cleared the target. */
export const listErrors = ['timeout', 'refused', 'unreachable', 'invalid_answer', 'unsupported'] as const

export type ListError = (typeof listErrors)[number]

/** What one blacklist said about one target. */
export interface BlacklistResult {
  /** The list's display name. */
  readonly name: string
  readonly listed: boolean
  /** True of a listing that accuses nobody: mail should not come from the address directly. */
  readonly policy: boolean
  /** The list's own reason, or what its code means; null unless listed. */
  readonly response: string | null
  readonly description: string
  readonly delistUrl: string
  /** Set when the list gave no usable answer; `listed` is false then and means nothing. */
  readonly error: ListError | null
  /** The raw A answers, such as `127.0.0.2`. */
  readonly codes: readonly string[]
  /** What else a reader should know: why an answer is not a listing, or what went wrong; one sentence. */
  readonly note: string | null
}

/** How many lists were asked and what came of it; `listedCount + cleanCount = totalChecked` always. */
export interface Counts {
  readonly totalChecked: number
  readonly listedCount: number
  /** How many of `listedCount` are entries of policy, which accuse nobody. */
  readonly policyCount: number
  readonly cleanCount: number
  /** How many of `cleanCount` gave no usable answer. */
  readonly failedCount: number
}

/** The report on an IP address. */
export interface IpReport extends Counts {
  readonly targetType: 'ip'
  readonly target: string
  readonly checkedAt: Date
  readonly verdict: string
  readonly geo: Geo
  readonly results: readonly BlacklistResult[]
}

/** The report on a domain: its counts are summed over the domain lists and every address checked. */
export interface DomainReport extends Counts {
  readonly targetType: 'domain'
  readonly target: string
  readonly checkedAt: Date
  readonly verdict: string
  /** What the domain lists said. */
  readonly results: readonly BlacklistResult[]
  /** Every address found, private ones included. */
  readonly resolvedIps: readonly string[]
  /** True when the resolver failed, so that addresses may be missing; the domain is not called clean then. */
  readonly resolutionFailed: boolean
  /** True when there were more public addresses than are checked. */
  readonly resolvedIpsTruncated: boolean
  /** One report per checked address. */
  readonly ipReports: readonly IpReport[]
}

export type Report = IpReport | DomainReport
