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
   * @param isPlain sends it without EDNS from the start.
   */
  ask(question: Question, onResult: (result: DnsResult) => void, isPlain?: boolean): Exchange
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
  state: 'waiting' | 'udp' | 'tcp' | 'done'
  /** The packet that was sent over UDP; null: not sent yet. */
  sent: { readonly socket: UdpSocket; readonly datagram: Datagram } | null
  resent: boolean
  cancelTcp: (() => void) | null
}

/**
 * The maximum number of queries in flight. Above about 100, rbldnsd's default receive buffer overflows and drops some
 * (measured).
 */
const MAX_IN_FLIGHT = 64

/**
 * Creates an upstream. Sockets open with the first question.
 * @param noEdns the resolvers that do not understand EDNS, which the upstream keeps up to date.
 */
export function createUpstream(server: DnsServer, now: Clock, statistics: DnsStatistics, noEdns: EdnsMemory): Upstream {
  const queue = createQueue()
  const silence = createSilenceDetector(now)
  const sockets = createSocketPool(server, statistics, { onReady: sendQueued, onUnreachable: failQueued })
  let inFlight = 0
  let isSendScheduled = false

  function ask(question: Question, onResult: (result: DnsResult) => void, isPlain = false): Exchange {
    const asked: Asked = {
      ...{ question, onResult, isPlain: isPlain || noEdns.has(server, now()) },
      ...{ wasRejected: false, state: 'waiting', sent: null, resent: false, cancelTcp: null },
    }
    queue.push(asked)
    sockets.fill()
    sendQueuedSoon()
    return { resend: () => resend(asked), cancel: () => cancel(asked) }
  }

  function failQueued() {
    for (let asked = queue.shift(); asked; asked = queue.shift())
      finish(asked, { kind: 'failed', reason: 'unreachable' })
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

  /** Sends queued queries while a socket is open and the maximum is not reached. */
  function sendQueued() {
    while (sockets.isReady() && inFlight < MAX_IN_FLIGHT) {
      const asked = queue.shift()
      if (asked === undefined) return
      inFlight++
      asked.state = 'udp'
      asked.sent = sockets.send(asked.question, asked.isPlain, listenerOf(asked))
    }
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
    inFlight--
    queue.push(asked)
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
    inFlight--
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

/** Creates a first-in-first-out queue. It skips cancelled queries and soon releases their memory. */
function createQueue() {
  let arrivals: Asked[] = []
  let next: Asked[] = []
  return {
    push: (asked: Asked) => void arrivals.push(asked),
    shift(): Asked | undefined {
      for (;;) {
        if (next.length === 0) {
          next = arrivals.filter((asked) => asked.state === 'waiting').reverse()
          arrivals = []
        }
        const asked = next.pop()
        if (asked === undefined || asked.state === 'waiting') return asked
      }
    },
  }
}
