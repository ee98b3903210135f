import type { DnsFailure, DnsResult, Question } from './message.ts'
import type { Exchange, Upstream } from './upstream.ts'

/** A question that is sent to one upstream after the other until one answers. */
export interface Failover {
  readonly question: Question
  readonly upstreams: readonly Upstream[]
  readonly onResult: (result: DnsResult) => void
  /** One for each upstream queried so far. */
  readonly exchanges: Exchange[]
  /** The number of exchanges that may still be answered. */
  unanswered: number
  /** The first failure of an upstream, while others may still answer. */
  failure: DnsFailure | null
  /** When it began, and when to retransmit, by `performance.now()`. */
  readonly begun: number
  due: number
}

/**
 * Queries the upstreams in the given order, each once: the next one when one fails, and at each retransmission. The
 * first usable answer wins; when every upstream has failed, the first failure does. It has no deadline: call
 * `cancelFailover`.
 * @param at the time by `performance.now()`, @param delay milliseconds until the first retransmission
 */
export function startFailover(
  question: Question,
  upstreams: readonly Upstream[],
  at: number,
  delay: number,
  onResult: (result: DnsResult) => void,
): Failover {
  const pursuit: Failover = {
    question,
    upstreams,
    onResult,
    exchanges: [],
    unanswered: 0,
    failure: null,
    begun: at,
    due: at + delay,
  }
  askNext(pursuit)
  return pursuit
}

/** Repeats unanswered queries when due, and queries the next upstream; the interval doubles each time. */
export function retransmitWhenDue(pursuit: Failover, at: number): void {
  if (at < pursuit.due) return
  pursuit.due += pursuit.due - pursuit.begun
  for (const exchange of pursuit.exchanges) exchange.resend()
  askNext(pursuit)
}

/** Cancels a failover; `onResult` is not called any more. */
export function cancelFailover(pursuit: Failover): void {
  for (const exchange of pursuit.exchanges) exchange.cancel()
}

function askNext(pursuit: Failover) {
  const upstream = pursuit.upstreams[pursuit.exchanges.length]
  if (upstream === undefined) return
  pursuit.unanswered++
  pursuit.exchanges.push(upstream.ask(pursuit.question, (result) => receive(pursuit, result)))
}

function receive(pursuit: Failover, result: DnsResult) {
  if (result.kind !== 'failed') return finish(pursuit, result)
  pursuit.unanswered--
  pursuit.failure ??= result
  askNext(pursuit)
  if (pursuit.unanswered === 0) finish(pursuit, pursuit.failure)
}

function finish(pursuit: Failover, result: DnsResult) {
  cancelFailover(pursuit)
  pursuit.onResult(result)
}
