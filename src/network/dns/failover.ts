import type { DnsFailure, DnsResult, Question } from './message.ts'
import type { Exchange, Upstream } from './upstream.ts'

/** A question that is sent to one upstream after the other until one answers. */
export interface Failover {
  readonly question: Question
  readonly upstreams: readonly Upstream[]
  readonly onResult: (result: DnsResult) => void
  /** One exchange for each upstream queried so far. */
  readonly exchanges: Exchange[]
  /** The number of exchanges that may still be answered. */
  unanswered: number
  /** The first failure of an upstream, while others may still answer. */
  failure: DnsFailure | null
  /** When it started and when to retransmit next, on the clock of `performance.now()`. */
  readonly begun: number
  due: number
}

/**
 * Queries the upstreams in the given order, each once. Goes on to the next one when an upstream fails and at each
 * retransmission. The result is the first usable answer, or the first failure if every upstream has failed. There is no
 * deadline: call `cancelFailover`.
 * @param at the current time on the clock of `performance.now()`.
 * @param delay the milliseconds until the first retransmission.
 */
export function startFailover(
  question: Question,
  upstreams: readonly Upstream[],
  at: number,
  delay: number,
  onResult: (result: DnsResult) => void,
): Failover {
  const failover: Failover = {
    question,
    upstreams,
    onResult,
    exchanges: [],
    unanswered: 0,
    failure: null,
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
}

/** Cancels a failover. `onResult` is not called anymore. */
export function cancelFailover(failover: Failover): void {
  for (const exchange of failover.exchanges) exchange.cancel()
}

function askNext(failover: Failover) {
  const upstream = failover.upstreams[failover.exchanges.length]
  if (upstream === undefined) return
  failover.unanswered++
  failover.exchanges.push(upstream.ask(failover.question, (result) => receive(failover, result)))
}

function receive(failover: Failover, result: DnsResult) {
  if (result.kind !== 'failed') return finish(failover, result)
  failover.unanswered--
  failover.failure ??= result
  askNext(failover)
  if (failover.unanswered === 0) finish(failover, failover.failure)
}

function finish(failover: Failover, result: DnsResult) {
  cancelFailover(failover)
  failover.onResult(result)
}
