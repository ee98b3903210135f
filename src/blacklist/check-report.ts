import type { Geo } from './geo/geo.ts'

/** The reasons why a list gave no usable answer (contract §2). Such an answer neither lists nor clears the target. */
export const listErrors = ['timeout', 'refused', 'unreachable', 'invalid_answer', 'unsupported'] as const

export type ListError = (typeof listErrors)[number]

/** One blacklist's answer about one target. */
export interface BlacklistResult {
  /** The list's display name. */
  readonly name: string
  readonly listed: boolean
  /** Whether the listing is a policy entry: the address should not send mail directly. It reports no abuse. */
  readonly policy: boolean
  /** The list's own reason, or the meaning of its code; null: not listed. */
  readonly response: string | null
  readonly description: string
  readonly delistUrl: string
  /** Why the list gave no usable answer; null: it gave one. If set, `listed` is false but means nothing. */
  readonly error: ListError | null
  /** The raw A answers, such as `127.0.0.2`. */
  readonly codes: readonly string[]
  /** An explanation in one sentence, such as why an answer is not a listing, or why the list failed. */
  readonly note: string | null
}

/** The counts of a report. `listedCount + cleanCount = totalChecked` always holds. */
export interface Counts {
  readonly totalChecked: number
  readonly listedCount: number
  /** The number of policy entries in `listedCount`. They report no abuse. */
  readonly policyCount: number
  readonly cleanCount: number
  /** The number of lists in `cleanCount` that gave no usable answer. */
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
  /** All addresses found, including private ones. */
  readonly resolvedIps: readonly string[]
  /** Whether the resolver failed, so that addresses may be missing. If so, the verdict is never clean. */
  readonly resolutionFailed: boolean
  /** Whether the domain has more public addresses than the check covers. */
  readonly resolvedIpsTruncated: boolean
  /** One report per checked address. */
  readonly ipReports: readonly IpReport[]
}

export type Report = IpReport | DomainReport
