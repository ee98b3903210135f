import type { Geo } from './geo/geo.ts'

/** Reasons why a list gave no usable answer (contract §2). The list has then neither listed nor cleared the target. */
export const listErrors = ['timeout', 'refused', 'unreachable', 'invalid_answer', 'unsupported'] as const

export type ListError = (typeof listErrors)[number]

/** One blacklist's answer about one target. */
export interface BlacklistResult {
  /** The list's display name. */
  readonly name: string
  readonly listed: boolean
  /** True for a policy entry: mail should not come directly from the address. It reports no abuse. */
  readonly policy: boolean
  /** The list's own reason, or the meaning of its code; null unless listed. */
  readonly response: string | null
  readonly description: string
  readonly delistUrl: string
  /** Set when the list gave no usable answer; `listed` is then false and has no meaning. */
  readonly error: ListError | null
  /** The raw A answers, such as `127.0.0.2`. */
  readonly codes: readonly string[]
  /** One sentence of explanation: why an answer is not a listing, or what went wrong. */
  readonly note: string | null
}

/** Counts of a report; `listedCount + cleanCount = totalChecked` always holds. */
export interface Counts {
  readonly totalChecked: number
  readonly listedCount: number
  /** How many of `listedCount` are policy entries, which report no abuse. */
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

/** The report on a domain. Its counts cover the domain lists and every checked address. */
export interface DomainReport extends Counts {
  readonly targetType: 'domain'
  readonly target: string
  readonly checkedAt: Date
  readonly verdict: string
  /** The answers of the domain lists. */
  readonly results: readonly BlacklistResult[]
  /** Every address found, private ones included. */
  readonly resolvedIps: readonly string[]
  /** True when the resolver failed and addresses may be missing; the domain is then not called clean. */
  readonly resolutionFailed: boolean
  /** True when the domain has more public addresses than the check covers. */
  readonly resolvedIpsTruncated: boolean
  /** One report per checked address. */
  readonly ipReports: readonly IpReport[]
}

export type Report = IpReport | DomainReport
