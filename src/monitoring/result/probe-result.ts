import type { ProbeOutcome } from '../../generated/prisma/enums.ts'
import type { Phases } from '../../network/outbound/outbound.ts'

/** The measurements of a probe in addition to its outcome. They depend on the kind, and are stored as JSON. */
export interface ProbeDetail {
  readonly phases?: Phases
  /** The address of the connection. */
  readonly address?: string
  /** The status code of an HTTP response. */
  readonly status?: number
  /** When the first certificate expires, as ISO 8601. */
  readonly certificateEndsAt?: string
  /** The target is in a private network that the organization may not reach. */
  readonly isPrivateTarget?: true
  /** What the server does that its protocol forbids, or that other clients refuse. It is no failure. */
  readonly note?: string
  /** The records of a DNS response. */
  readonly answers?: readonly string[]
  /** Ids of the blacklists that list the target, without acknowledged ones. */
  readonly listedOn?: readonly string[]
  /** Ids of the blacklists without a usable answer. */
  readonly failedLists?: readonly string[]
  /** The first line that a job sent with its heartbeat. Only its organization sees it; incidents never show it. */
  readonly output?: string
}

/** The result of one probe. */
export interface ProbeResult {
  readonly outcome: ProbeOutcome
  /** One line with the failure or the measurement. Contains no secrets and no private addresses. */
  readonly message: string
  /** The response time; null: there was no response to measure. */
  readonly latencyMs: number | null
  readonly detail: ProbeDetail | null
  /** The probed host, if our own network may have caused the failure; null: it has not. */
  readonly suspect: string | null
}

/** Creates a probe result from its outcome and message. @param more the other fields. */
export function probeResult(outcome: ProbeOutcome, message: string, more: Partial<ProbeResult> = {}): ProbeResult {
  return { outcome, message, latencyMs: null, detail: null, suspect: null, ...more }
}

/** Returns untrusted text as one line of at most `maxLength` characters, without control characters. */
export function oneLine(text: string, maxLength: number): string {
  return [...text.replace(/[\s\p{C}]+/gu, ' ').trim()].slice(0, maxLength).join('')
}

/** Returns a value of a response as JSON, in one line of at most 80 characters. */
export function quoted(value: unknown): string {
  return oneLine(JSON.stringify(value) ?? '', 80)
}
