import type { DnsFailure, DnsResult, Question } from './message.ts'
import type { Exchange, Upstream } from './upstream.ts'

/** A question that is sent to one upstream after the other until one answers. */
export interface Failover {
  readonly question: Question
  /** Whose share of each upstream it takes (`Upstream.ask`). */
  readonly owner: string
  readonly upstreams: readonly Upstream[]
  readonly onResult: (result: DnsResult) => void
  /** One exchange for each upstream queried so far. */
  readonly exchanges: Exchange[]
  /** The number of exchanges that may still be answered. */
  unanswered: number
  /** The first failure of an upstream, while others may still answer. */
  failure: DnsFailure | null
  /** The upstream that reported the only SERVFAIL so far; null: none or several did. */
  failedOnce: Upstream | null
  servfails: number
  /** When it started and when to retransmit next, on the clock of `performance.now()`. */
  readonly begun: number
  due: number
}

/**
 * Queries the upstreams in the given order, each once. Goes on to the next one when an upstream fails and at each
 * retransmission. The result is the first usable answer, or the first failure if every upstream has failed. A single
 * SERVFAIL may be a passing fault of one server, so it is not the end: its upstream is asked once more, without EDNS,
 * which old servers answer with SERVFAIL (RFC 2671 §5.3). There is no deadline: call `cancelFailover`.
 * @param owner whose share of each upstream it takes (`Upstream.ask`).
 * @param at the current time on the clock of `performance.now()`.
 * @param delay the milliseconds until the first retransmission.
 */
export function startFailover(
  question: Question,
  owner: string,
  upstreams: readonly Upstream[],
  at: number,
  delay: number,
  onResult: (result: DnsResult) => void,
): Failover {
  const failover: Failover = {
    question,
    owner,
    upstreams,
    onResult,
    exchanges: [],
    unanswered: 0,
    failure: null,
    failedOnce: null,
    servfails: 0,
    begun: at,
    due: at + delay,
  }
  askNext(failover)
  return failover
}

/** When a retransmission is due, repeats unanswered queries and queries the next upstream. Doubles the interval. */
export function retransmitWhenDue(failover: Failover, at: number): void {
  if (at < failover.due) return
  failover.due += failover.due - failover.begun
  for (const exchange of failover.exchanges) exchange.resend()
  askNext(failover)
  askAgain(failover)
}

/** Cancels a failover. `onResult` is not called anymore. */
export function cancelFailover(failover: Failover): void {
  for (const exchange of failover.exchanges) exchange.cancel()
}

function askNext(failover: Failover) {
  const upstream = failover.upstreams[failover.exchanges.length]
  if (upstream !== undefined) ask(failover, upstream)
}

function ask(failover: Failover, upstream: Upstream, isPlain = false) {
  failover.unanswered++
  const onResult = (result: DnsResult) => receive(failover, upstream, result)
  failover.exchanges.push(upstream.ask(failover.question, onResult, failover.owner, isPlain))
}

function receive(failover: Failover, upstream: Upstream, result: DnsResult) {
  if (result.kind !== 'failed') return finish(failover, result)
  failover.unanswered--
  failover.failure ??= result
  if (result.reason === 'servfail') failover.failedOnce = ++failover.servfails === 1 ? upstream : null
  askNext(failover)
  if (failover.unanswered > 0) return
  if (!askAgain(failover)) finish(failover, failover.failure)
}

/** Repeats the only query that ended with SERVFAIL, once all upstreams were asked. Returns whether there was one. */
function askAgain(failover: Failover): boolean {
  const { failedOnce, exchanges, upstreams } = failover
  if (failedOnce === null || exchanges.length < upstreams.length) return false
  failover.failedOnce = null
  ask(failover, failedOnce, true)
  return true
}

function finish(failover: Failover, result: DnsResult) {
  cancelFailover(failover)
  failover.onResult(result)
}
