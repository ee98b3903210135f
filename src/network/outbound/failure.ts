/** How many milliseconds each phase took; null for one that did not come. Those of redirects are added up. */
export interface Phases {
  readonly dns: number | null
  readonly connect: number | null
  readonly tls: number | null
  /** From the request to the head of its answer. */
  readonly firstByte: number | null
  readonly total: number
}

/** Milliseconds as they are told: what a clock says beyond hundredths is noise. */
export function hundredths(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}

/** The certificate that a server showed. */
export interface Certificate {
  readonly validFrom: Date
  readonly validTo: Date
  /** Why it is not to be trusted, as OpenSSL's or Node's code, such as `CERT_HAS_EXPIRED`; null: it is trusted. */
  readonly problem: string | null
}

/**
 * Why something outside was not reached, or gave no usable answer.
 * - `invalid`: the host or URL cannot be used; `forbidden`: the guard does not let it be reached.
 * - `unknown-name`: DNS knows no address; `unresolved`: no resolver gave a usable answer.
 * - `refused`, `unreachable`, `closed`: by the other side or the network between; `certificate`, `tls`, `protocol`: what it
 *   said was wrong; `redirects`: too many.
 * - `timeout`: the deadline came; `aborted`: the caller's signal did; `local`: this machine could not.
 */
export type FailureReason =
  | 'invalid'
  | 'forbidden'
  | 'unknown-name'
  | 'unresolved'
  | 'refused'
  | 'unreachable'
  | 'closed'
  | 'certificate'
  | 'tls'
  | 'protocol'
  | 'redirects'
  | 'timeout'
  | 'aborted'
  | 'local'

/** Whose fault a failure is: surely theirs, perhaps that of our own network, or surely ours. */
export type Fault = 'theirs' | 'unclear' | 'ours'

/** What came of an attempt that failed; it is a value, for failures are what monitors look for. */
export interface Failure {
  readonly kind: 'failed'
  readonly reason: FailureReason
  readonly fault: Fault
  /** One sentence for people, without a full stop. Holds host names, but no path, header, body or address that DNS gave. */
  readonly message: string
  readonly phases: Phases
  /** The address that a connection was made to last. */
  readonly address: string | null
  readonly certificate: Certificate | null
}
