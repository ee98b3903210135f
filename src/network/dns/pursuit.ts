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
  /** When it began, and when it is time to retransmit: by `performance.now()`. */
  readonly begun: number
  due: number
}

/**
 * Asks the upstreams in the order given, each once: the next one at once when one has failed, and whenever it is time to
 * retransmit. The first usable answer counts, from whomever; when every upstream has failed, the first failure does. It
 * knows no deadline: `abandon` it.
 * @param at the time by `performance.now()`, @param delay milliseconds until it is first time to retransmit
 */
export function pursue(
  question: Question,
  upstreams: readonly Upstream[],
  at: number,
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
    begun: at,
    due: at + delay,
  }
  askNext(pursuit)
  return pursuit
}

/** Repeats what is unanswered, if it is time, and asks the next upstream; it is time again when this time has doubled. */
export function retransmitWhenDue(pursuit: Pursuit, at: number): void {
  if (at < pursuit.due) return
  pursuit.due += pursuit.due - pursuit.begun
  for (const exchange of pursuit.exchanges) exchange.resend()
  askNext(pursuit)
}

/** Gives up; `onResult` is not called any more. */
export function abandon(pursuit: Pursuit): void {
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

function finish(pursuit: Pursuit, result: DnsResult) {
  abandon(pursuit)
  pursuit.onResult(result)
}
