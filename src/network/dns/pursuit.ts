import type { DnsFailure, DnsResult, Question } from './message.ts'
import type { Exchange, Upstream } from './upstream.ts'

/** A question that is being put to one upstream after the other until one knows. */
export interface Pursuit {
  readonly question: Question
  readonly upstreams: readonly Upstream[]
  readonly onResult: (result: DnsResult) => void
  /** One for each upstream asked so far. */
  readonly exchanges: Exchange[]
  /** How many of them may still bring something. */
  unanswered: number
  /** The first failure an upstream reported, while others may still answer. */
  failure: DnsFailure | null
  timer: NodeJS.Timeout
}

/**
 * Asks the upstreams in the order given, each once: the next one at once when one has failed, and whenever it is time to
 * retransmit, which also repeats what is unanswered. That time comes `delay` ms after the start, and again whenever the time
 * since the start has doubled. The first usable answer counts, from whomever; when every upstream has failed, the first
 * failure does. It knows no deadline: `abandon` it.
 */
export function pursue(
  question: Question,
  upstreams: readonly Upstream[],
  delay: number,
  onResult: (result: DnsResult) => void,
): Pursuit {
  const pursuit: Pursuit = {
    question,
    upstreams,
    onResult,
    exchanges: [],
    unanswered: 0,
    failure: null,
    timer: setTimeout(() => retransmit(pursuit, delay), delay),
  }
  askNext(pursuit)
  return pursuit
}

/** Gives up; `onResult` is not called any more. */
export function abandon(pursuit: Pursuit): void {
  clearTimeout(pursuit.timer)
  for (const exchange of pursuit.exchanges) exchange.cancel()
}

function askNext(pursuit: Pursuit) {
  const upstream = pursuit.upstreams[pursuit.exchanges.length]
  if (upstream === undefined) return
  pursuit.unanswered++
  pursuit.exchanges.push(upstream.ask(pursuit.question, (result) => receive(pursuit, result)))
}

function receive(pursuit: Pursuit, result: DnsResult) {
  if (result.kind !== 'failed') return finish(pursuit, result)
  pursuit.unanswered--
  pursuit.failure ??= result
  askNext(pursuit)
  if (pursuit.unanswered === 0) finish(pursuit, pursuit.failure)
}

function retransmit(pursuit: Pursuit, elapsed: number) {
  for (const exchange of pursuit.exchanges) exchange.resend()
  askNext(pursuit)
  pursuit.timer = setTimeout(() => retransmit(pursuit, 2 * elapsed), elapsed)
}

function finish(pursuit: Pursuit, result: DnsResult) {
  abandon(pursuit)
  pursuit.onResult(result)
}
