import { randomInt } from 'node:crypto'
import type { DnsServer } from '../../config.ts'
import { type Clock, SECOND } from '../../time.ts'
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
   * Asks once. `onResult` is called at most once, never before this returns, and not after `cancel`; it is never told of a
   * timeout, which is the caller's to keep.
   */
  ask(question: Question, onResult: (result: DnsResult) => void): Exchange
  /** Whether it has been silent lately, so that others are better asked first. */
  isSilent(): boolean
  /** Closes its sockets. All exchanges must have been cancelled. */
  close(): Promise<void>
}

/** One question on its way to one upstream and back. */
export interface Exchange {
  /** Sends the same packet again, if it was sent and no answer of any kind has come. */
  resend(): void
  cancel(): void
}

/**
 * A record with methods. Neither here nor elsewhere on a query's way are closures bound to names: tsx has each of those
 * named anew when it is made, which doubled the cost of a query (measured).
 */
interface Asked extends Exchange, Listener {
  readonly question: Question
  readonly onResult: (result: DnsResult) => void
  state: 'waiting' | 'udp' | 'tcp' | 'done'
  /** What carries it while its state is `udp`. */
  socket: UdpSocket | null
  datagram: Datagram | null
  resent: boolean
  cancelTcp: (() => void) | null
}

/** Queries in flight; above about 100, rbldnsd's default receive buffer overflows and loses some (measured). */
const mostInFlight = 64
/** Sockets in use at a time, and the queries each is used for: a forger has to guess the port as well as the id (RFC 5452 §9.2). */
const socketCount = 4
const queriesPerSocket = 300
/** So many exchanges without any answer make an upstream silent, for so long. */
const silencesTolerated = 3
const silencePeriod = 30 * SECOND

/** Makes an upstream; sockets are opened when the first question comes. */
export function createUpstream(server: DnsServer, now: Clock, statistics: DnsStatistics): Upstream {
  const line = createLine()
  const sockets = new Set<UdpSocket>()
  /** Sockets in `sockets` that still take queries. */
  const usable: UdpSocket[] = []
  const openings = new Set<Promise<void>>()
  let inFlight = 0
  let advancing = false
  let silences = 0
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
        if (asked.state === 'udp' && asked.resent) countSilence()
        end(asked)
      },
      answered(message) {
        answered(asked, message)
      },
      failed(reason) {
        finish(asked, { kind: 'failed', reason })
      },
    }
    line.push(asked)
    openSockets()
    advanceSoon()
    return asked
  }

  /** Keeps the number of usable sockets. */
  function openSockets() {
    while (usable.length + openings.size < socketCount) {
      const opening = openUdpSocket(server, statistics).then(
        (socket) => {
          openings.delete(opening)
          sockets.add(socket)
          usable.push(socket)
          advance()
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
    for (let asked = line.shift(); asked; asked = line.shift()) finish(asked, { kind: 'failed', reason: 'unreachable' })
  }

  /**
   * Sends at the end of this turn of the event loop: of many queries that are cancelled together none is sent in the place
   * of another, and sending them in one go took a sixth off the processor time of a query (measured against rbldnsd).
   */
  function advanceSoon() {
    if (advancing) return
    advancing = true
    setImmediate(() => {
      advancing = false
      advance()
    })
  }

  /** Sends what waits, as long as there is a socket and room. */
  function advance() {
    while (usable.length > 0 && inFlight < mostInFlight) {
      const asked = line.shift()
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
    silences = 0
    const result = readReply(message, asked.question)
    if (result !== 'truncated') return finish(asked, result)
    if (asked.state === 'tcp') return finish(asked, { kind: 'failed', reason: 'malformed' })
    asked.state = 'tcp'
    asked.cancelTcp = sendOverTcp(server, asked.question, statistics, asked)
  }

  function countSilence() {
    silences++
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
    advanceSoon()
  }

  return {
    ask,
    isSilent() {
      if (silences < silencesTolerated) return false
      const silentFor = now().getTime() - silentSince
      return silentFor >= 0 && silentFor < silencePeriod
    },
    async close() {
      await Promise.all(openings)
      await Promise.all([...sockets].map((socket) => socket.close()))
    },
  }
}

/** First in, first out; those that are done meanwhile are skipped, and let go of in time. */
function createLine() {
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
