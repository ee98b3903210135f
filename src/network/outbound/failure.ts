/** The duration of each phase in milliseconds, including redirects; null: the phase did not happen. */
export interface Phases {
  readonly dns: number | null
  readonly connect: number | null
  readonly tls: number | null
  /** The time from the request to the head of its response. */
  readonly firstByte: number | null
  readonly total: number
}

/** Rounds milliseconds to hundredths. Further digits are noise. */
export function hundredths(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}

/** The certificate that expires first of those that a server sends to prove its name. */
export interface Certificate {
  readonly validFrom: Date
  readonly validTo: Date
  /** The name of an issuer whose certificate it is, in one line; null: it is the server’s own. */
  readonly issuer: string | null
  /** The name or address of the server. */
  readonly host: string
  /** OpenSSL's or Node's code for why it is not trusted, such as `CERT_HAS_EXPIRED`; null: it is trusted. */
  readonly problem: string | null
}

/** Returns the certificate that expires first; null: there is none. */
export function firstToExpire(certificates: readonly Certificate[]): Certificate | null {
  const [first = null] = [...certificates].sort((a, b) => a.validTo.getTime() - b.validTo.getTime())
  return first
}

/**
 * Why a host was not reached or gave no usable response.
 * - `invalid`: the host or URL is invalid; `forbidden`: the guard does not allow it; `private`: it is in a private network
 * that the owner may not reach.
 * - `unknown-name`: DNS has no address for the name; `unresolved`: no resolver gave a usable answer.
 * - `refused`, `unreachable`, `closed`: the other side, or the network in between, did not connect or closed the
 * connection.
 * - `certificate`, `tls`, `protocol`: the other side sent wrong data; `redirects`: it redirected too often.
 * - `timeout`: the deadline passed; `aborted`: the caller's signal aborted; `local`: this machine had an error.
 * - `proxy`: the proxy between us and the target failed.
 * - `rate-limited`: the rate limit of the address did not admit the connection in time.
 */
export type FailureReason =
  | 'invalid'
  | 'forbidden'
  | 'private'
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
  | 'rate-limited'

/** The party that caused a failure: certainly the target, the target or our network, or certainly this service. */
export type Fault = 'theirs' | 'unclear' | 'ours'

/** A failed attempt. It is a value rather than an error, because failures are what monitors look for. */
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
