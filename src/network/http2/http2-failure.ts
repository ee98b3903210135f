/**
 * Why a call over HTTP/2 has no answer. `closed`: the server hung up or refused the request. `protocol`: it does not
 * speak HTTP/2. `too long`: its headers or body are longer than allowed. `too much`: it sent too many bytes or frames.
 */
export type Http2FailureReason = 'closed' | 'protocol' | 'too long' | 'too much'

/** Ends a call over HTTP/2. Thrown only inside this folder. */
export class Http2Failure extends Error {
  override readonly name = 'Http2Failure'
  readonly reason: Http2FailureReason

  constructor(reason: Http2FailureReason) {
    super(reason)
    this.reason = reason
  }
}
