import type { ProbeOutcome } from '../generated/prisma/enums.ts'
import type { Phases } from '../network/outbound.ts'

/** What a kind tells beside the outcome; every member is optional, and kept as JSON. */
export interface Detail {
  readonly phases?: Phases
  /** The address that was reached. */
  readonly address?: string
  /** The status of an HTTP answer. */
  readonly status?: number
  /** When the certificate that was shown ends, as ISO 8601. */
  readonly certificateEndsAt?: string
  /** What a DNS query was answered. */
  readonly answers?: readonly string[]
  /** Ids of the blacklists that list the target, those acknowledged apart. */
  readonly listedOn?: readonly string[]
  /** Ids of the blacklists that gave no usable answer. */
  readonly failedLists?: readonly string[]
  /** The first line of what a job sent with its heartbeat: for its organization only, and in no incident. */
  readonly said?: string
}

/** What one run of a probe found. */
export interface Finding {
  readonly outcome: ProbeOutcome
  /** One line for people: what was wrong, or what was seen. Holds no secret and no private address. */
  readonly message: string
  /** Null when nothing was reached that could be timed. */
  readonly latencyMs: number | null
  readonly detail: Detail | null
  /** The name or address that was probed when the failure may be that of our own network; null when it surely is not. */
  readonly suspect: string | null
}

/** A finding of which only the outcome and the message are known, unless `more` is given. */
export function found(outcome: ProbeOutcome, message: string, more: Partial<Finding> = {}): Finding {
  return { outcome, message, latencyMs: null, detail: null, suspect: null, ...more }
}

/** What came from outside, as one line of at most `most` characters, free of those that control how it is shown. */
export function oneLine(text: string, most: number): string {
  return [...text.replace(/[\s\p{C}]+/gu, ' ').trim()].slice(0, most).join('')
}
