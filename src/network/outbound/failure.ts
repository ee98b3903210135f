/** The duration of each phase in milliseconds, summed over redirects; null for a phase that did not happen. */
export interface Phases {
  readonly dns: number | null
  readonly connect: number | null
  readonly tls: number | null
  /** From the request to the head of its response. */
  readonly firstByte: number | null
  readonly total: number
}

/** Rounds milliseconds to hundredths; further digits are noise. */
export function hundredths(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}

/** The certificate of a server. */
export interface Certificate {
  readonly validFrom: Date
  readonly validTo: Date
  /** Why it is not trusted, as the code of OpenSSL or Node, such as `CERT_HAS_EXPIRED`; null: it is trusted. */
  readonly problem: string | null
}

/**
 * Why a host was not reached or gave no usable response.
 * - `invalid`: the host or URL cannot be used; `forbidden`: the guard does not allow it.
 * - `unknown-name`: DNS has no address; `unresolved`: no resolver gave a usable answer.
 * - `refused`, `unreachable`, `closed`: by the other side or the network between; `certificate`, `tls`, `protocol`: the
 * other side's data was wrong; `redirects`: too many.
 * - `timeout`: the deadline passed; `aborted`: the caller's signal aborted; `local`: an error of this machine.
 * - `proxy`: a proxy between us and the target cannot be used.
 * - `spared`: the rate limit of the address did not admit the connection in time.
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
  | 'proxy'
  | 'spared'

/** The party that caused a failure: certainly the target, possibly our own network, or certainly we. */
export type Fault = 'theirs' | 'unclear' | 'ours'

/** A failed attempt; a value, because monitors look for failures. */
export interface Failure {
  readonly kind: 'failed'
  readonly reason: FailureReason
  readonly fault: Fault
  /** One sentence without a full stop. Contains host names, but no path, header, body or address from DNS. */
  readonly message: string
  readonly phases: Phases
  /** The address of the last connection. */
  readonly address: string | null
  readonly certificate: Certificate | null
}
