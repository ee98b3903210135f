import { createFairQueue } from '../../core/concurrency/fair-queue.ts'
import type { DnsServer } from '../../core/config.ts'
import { type Clock, SECOND } from '../../core/time.ts'
import type { EdnsMemory } from './edns-memory.ts'
import { type DnsResult, type Question, readReply, rejectsEdns } from './message.ts'
import { createSocketPool } from './socket-pool.ts'
import { type Datagram, type DnsStatistics, sendOverTcp, type UdpSocket } from './transport.ts'

/** One recursive resolver. */
export interface Upstream {
  /**
   * Sends a question once, and again without EDNS if the resolver does not understand it. Calls `onResult` at most once,
   * never before this returns, and not after `cancel`. The caller sets timeouts.
   * @param owner takes turns with others, and has at most half of the queries in flight; '': ourselves, without a share.
   * @param isPlain sends it without EDNS from the start.
   */
  ask(question: Question, onResult: (result: DnsResult) => void, owner: string, isPlain?: boolean): Exchange
  /** Returns whether the upstream has not answered recently, so that others should be queried first. */
  isSilent(): boolean
  /** Closes its sockets. All exchanges must have been cancelled. */
  close(): Promise<void>
}

/** One question to one upstream. */
export interface Exchange {
  /** Sends the same packet again if it was sent but not answered yet. */
  resend(): void
  cancel(): void
}

/** The state of an exchange. */
interface Asked {
  readonly question: Question
  readonly onResult: (result: DnsResult) => void
  /** Whether it is sent without EDNS. */
  isPlain: boolean
  /** Whether the server did not understand it with EDNS. */
  wasRejected: boolean
  readonly owner: string
  state: 'waiting' | 'udp' | 'tcp' | 'done'
  /** The packet that was sent over UDP; null: not sent yet. */
  sent: { readonly socket: UdpSocket; readonly datagram: Datagram } | null
  resent: boolean
  cancelTcp: (() => void) | null
}

/**
 * The maximum number of queries in flight, in total and per owner. Above about 100, rbldnsd's default receive buffer
 * overflows and drops some (measured).
 */
const MAX_IN_FLIGHT = 64
const MAX_PER_OWNER = MAX_IN_FLIGHT / 2

/**
 * Creates an upstream. Sockets open with the first question.
 * @param noEdns the resolvers that do not understand EDNS, which the upstream keeps up to date.
 */
export function createUpstream(server: DnsServer, now: Clock, statistics: DnsStatistics, noEdns: EdnsMemory): Upstream {
  const queue = createFairQueue<string, Asked>()
  const silence = createSilenceDetector(now)
  const sockets = createSocketPool(server, statistics, { onReady: sendQueued, onUnreachable: failQueued })
  let inFlight = 0
  const inFlightByOwner = new Map<string, number>()
  let isSendScheduled = false

  function ask(question: Question, onResult: (result: DnsResult) => void, owner: string, isPlain = false): Exchange {
    const asked: Asked = {
      ...{ question, onResult, owner, isPlain: isPlain || noEdns.has(server, now()) },
      ...{ wasRejected: false, state: 'waiting', sent: null, resent: false, cancelTcp: null },
    }
    queue.add(owner, asked)
    sockets.fill()
    sendQueuedSoon()
    return { resend: () => resend(asked), cancel: () => cancel(asked) }
  }

  function failQueued() {
    for (const asked of queue.clear())
      if (asked.state === 'waiting') finish(asked, { kind: 'failed', reason: 'unreachable' })
  }

  /**
   * Sends queued queries at the end of this turn of the event loop, so that queries that are cancelled together are not
   * sent one after the other. Sending together reduced the processor time of a query by a sixth (measured with
   * rbldnsd).
   */
  function sendQueuedSoon() {
    if (isSendScheduled) return
    isSendScheduled = true
    setImmediate(() => {
      isSendScheduled = false
      sendQueued()
    })
  }

  /** Sends queued queries while a socket is open and the maximum is not reached. Skips those that were cancelled. */
  function sendQueued() {
    while (sockets.isReady() && inFlight < MAX_IN_FLIGHT) {
      const asked = queue.next(mayAsk)
      if (asked === undefined) return
      if (asked.state !== 'waiting') continue
      count(asked.owner, 1)
      asked.state = 'udp'
      asked.sent = sockets.send(asked.question, asked.isPlain, listenerOf(asked))
    }
  }

  const mayAsk = (owner: string) => owner === '' || (inFlightByOwner.get(owner) ?? 0) < MAX_PER_OWNER

  function count(owner: string, by: 1 | -1) {
    inFlight += by
    const left = (inFlightByOwner.get(owner) ?? 0) + by
    if (left === 0) inFlightByOwner.delete(owner)
    else inFlightByOwner.set(owner, left)
  }

  function listenerOf(asked: Asked) {
    return {
      answered: (message: Buffer) => receive(asked, message),
      failed: (reason: 'unreachable' | 'malformed') => finish(asked, { kind: 'failed', reason }),
    }
  }

  function receive(asked: Asked, message: Buffer) {
    silence.noteAnswer()
    const result = readReply(message, asked.question)
    if (rejectsEdns(result) && !asked.isPlain) return askWithoutEdns(asked)
    if (asked.isPlain && asked.wasRejected && !rejectsEdns(result)) noEdns.add(server, now())
    if (result !== 'truncated') return finish(asked, result)
    if (asked.state === 'tcp') return finish(asked, { kind: 'failed', reason: 'malformed' })
    askOverTcp(asked)
  }

  /** Repeats a query that the server did not understand, on the same transport (RFC 6891 §7). */
  function askWithoutEdns(asked: Asked) {
    asked.isPlain = true
    asked.wasRejected = true
    if (asked.state === 'tcp') return askOverTcp(asked)
    asked.state = 'waiting'
    asked.sent = null
    count(asked.owner, -1)
    queue.add(asked.owner, asked)
    sendQueuedSoon()
  }

  function askOverTcp(asked: Asked) {
    asked.state = 'tcp'
    asked.cancelTcp = sendOverTcp(server, asked, statistics, listenerOf(asked))
  }

  function resend(asked: Asked) {
    if (asked.state !== 'udp' || asked.sent === null) return
    asked.resent = true
    asked.sent.socket.resend(asked.sent.datagram)
  }

  function cancel(asked: Asked) {
    if (asked.state === 'udp' && asked.resent) silence.noteUnanswered()
    end(asked)
  }

  function finish(asked: Asked, result: DnsResult) {
    end(asked)
    asked.onResult(result)
  }

  function end(asked: Asked) {
    const wasInFlight = asked.state === 'udp' || asked.state === 'tcp'
    asked.state = 'done'
    asked.sent?.socket.forget(asked.sent.datagram)
    asked.cancelTcp?.()
    if (!wasInFlight) return
    count(asked.owner, -1)
    sendQueuedSoon()
  }

  return { ask, isSilent: silence.isSilent, close: sockets.close }
}

/**
 * The number of consecutive unanswered exchanges after which an upstream counts as silent, and for how many
 * milliseconds.
 */
const MAX_UNANSWERED = 3
const SILENT_MS = 30 * SECOND

function createSilenceDetector(now: Clock) {
  let unanswered = 0
  let since = 0
  return {
    noteAnswer() {
      unanswered = 0
    },
    noteUnanswered() {
      unanswered++
      since = now().getTime()
    },
    isSilent() {
      if (unanswered < MAX_UNANSWERED) return false
      const lasted = now().getTime() - since
      return lasted >= 0 && lasted < SILENT_MS
    },
  }
}
