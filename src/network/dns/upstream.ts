import { randomInt } from 'node:crypto'
import type { DnsServer } from '../../core/config.ts'
import { type Clock, SECOND } from '../../core/time.ts'
import { type DnsResult, type Question, readReply } from './message.ts'
import {
  type Datagram,
  type DnsStatistics,
  type Listener,
  openUdpSocket,
  sendOverTcp,
  type UdpSocket,
} from './transport.ts'

/** One recursive resolver. */
export interface Upstream {
  /**
   * Queries once. Calls `onResult` at most once, never before this returns, and not after `cancel`; timeouts are up to
   * the caller.
   */
  ask(question: Question, onResult: (result: DnsResult) => void): Exchange
  /** Returns whether it has not answered lately, so that others should be queried first. */
  isSilent(): boolean
  /** Closes its sockets. All exchanges must have been cancelled. */
  close(): Promise<void>
}

/** One question to one upstream. */
export interface Exchange {
  /** Sends the same packet again, if it was sent and not answered yet. */
  resend(): void
  cancel(): void
}

/**
 * A record with methods, without closures bound to names: tsx names each of those anew when it is created, which
 * doubled the cost of a query (measured).
 */
interface Asked extends Exchange, Listener {
  readonly question: Question
  readonly onResult: (result: DnsResult) => void
  state: 'waiting' | 'udp' | 'tcp' | 'done'
  /** Its socket and datagram while its state is `udp`. */
  socket: UdpSocket | null
  datagram: Datagram | null
  resent: boolean
  cancelTcp: (() => void) | null
}

/**
 * The maximum number of queries in flight; above about 100, rbldnsd's default receive buffer overflows and loses some
 * (measured).
 */
const maxInFlight = 64
/**
 * The number of sockets in use, and of queries per socket: a forger must guess the port as well as the id (RFC 5452
 * §9.2).
 */
const socketCount = 4
const queriesPerSocket = 300
/** After this many unanswered exchanges an upstream counts as silent, for this long in milliseconds. */
const maxUnanswered = 3
const silentMs = 30 * SECOND

/** Creates an upstream; sockets are opened with the first question. */
export function createUpstream(server: DnsServer, now: Clock, statistics: DnsStatistics): Upstream {
  const queue = createQueue()
  const sockets = new Set<UdpSocket>()
  /** Sockets in `sockets` that still take queries. */
  const usable: UdpSocket[] = []
  const openings = new Set<Promise<void>>()
  let inFlight = 0
  let sendScheduled = false
  let unanswered = 0
  let silentSince = 0

  function ask(question: Question, onResult: (result: DnsResult) => void): Exchange {
    const asked: Asked = {
      question,
      onResult,
      state: 'waiting',
      socket: null,
      datagram: null,
      resent: false,
      cancelTcp: null,
      resend() {
        if (asked.state !== 'udp' || asked.datagram === null) return
        asked.resent = true
        asked.socket?.resend(asked.datagram)
      },
      cancel() {
        if (asked.state === 'udp' && asked.resent) countUnanswered()
        end(asked)
      },
      answered(message) {
        answered(asked, message)
      },
      failed(reason) {
        finish(asked, { kind: 'failed', reason })
      },
    }
    queue.push(asked)
    openSockets()
    sendQueuedSoon()
    return asked
  }

  /** Replaces used sockets. */
  function openSockets() {
    while (usable.length + openings.size < socketCount) {
      const opening = openUdpSocket(server, statistics).then(
        (socket) => {
          openings.delete(opening)
          sockets.add(socket)
          usable.push(socket)
          sendQueued()
        },
        () => {
          openings.delete(opening)
          if (usable.length + openings.size === 0) failWaiting()
        },
      )
      openings.add(opening)
    }
  }

  function failWaiting() {
    for (let asked = queue.shift(); asked; asked = queue.shift())
      finish(asked, { kind: 'failed', reason: 'unreachable' })
  }

  /**
   * Sends at the end of this turn of the event loop: queries that are cancelled together are not sent one after the
   * other, and sending in one go took a sixth off the processor time of a query (measured against rbldnsd).
   */
  function sendQueuedSoon() {
    if (sendScheduled) return
    sendScheduled = true
    setImmediate(() => {
      sendScheduled = false
      sendQueued()
    })
  }

  /** Sends queued queries while there is a socket and room. */
  function sendQueued() {
    while (usable.length > 0 && inFlight < maxInFlight) {
      const asked = queue.shift()
      if (asked === undefined) return
      inFlight++
      send(asked)
    }
  }

  function send(asked: Asked) {
    const index = randomInt(usable.length)
    const socket = usable[index]
    if (socket === undefined) throw new RangeError('There is no socket to send on')
    asked.state = 'udp'
    asked.socket = socket
    asked.datagram = socket.send(asked.question, asked)
    if (socket.used < queriesPerSocket) return
    usable.splice(index, 1)
    void socket.retire().then(() => sockets.delete(socket))
    openSockets()
  }

  function answered(asked: Asked, message: Buffer) {
    unanswered = 0
    const result = readReply(message, asked.question)
    if (result !== 'truncated') return finish(asked, result)
    if (asked.state === 'tcp') return finish(asked, { kind: 'failed', reason: 'malformed' })
    asked.state = 'tcp'
    asked.cancelTcp = sendOverTcp(server, asked.question, statistics, asked)
  }

  function countUnanswered() {
    unanswered++
    silentSince = now().getTime()
  }

  function finish(asked: Asked, result: DnsResult) {
    end(asked)
    asked.onResult(result)
  }

  function end(asked: Asked) {
    const held = asked.state === 'udp' || asked.state === 'tcp'
    asked.state = 'done'
    if (asked.datagram !== null) asked.socket?.forget(asked.datagram)
    asked.cancelTcp?.()
    if (!held) return
    inFlight--
    sendQueuedSoon()
  }

  return {
    ask,
    isSilent() {
      if (unanswered < maxUnanswered) return false
      const silentFor = now().getTime() - silentSince
      return silentFor >= 0 && silentFor < silentMs
    },
    async close() {
      await Promise.all(openings)
      await Promise.all([...sockets].map((socket) => socket.close()))
    },
  }
}

/** Creates a first-in-first-out queue; skips cancelled queries and releases them in time. */
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
