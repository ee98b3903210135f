import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { DnsServer } from '../../core/config.ts'
import { addressFamily } from '../../core/ip-address.ts'
import { answersQuery, encodeQuery, type Question } from './message.ts'

/** The numbers of queries and answers since the client was created. */
export interface DnsStatistics {
  /** Queries sent over UDP, without their retransmissions. */
  sent: number
  retransmitted: number
  /** Messages that answer one of our queries. */
  received: number
  /** Messages that answer none of our queries: late, duplicate, forged or malformed ones. */
  rejected: number
  cacheHits: number
  /** Callers that joined a query in flight. */
  coalesced: number
  /** Callers whose deadline passed without an answer. */
  timeouts: number
  /** Queries repeated over TCP after a truncated answer. */
  tcp: number
}

/** Receives the outcome of a query: the message that answers it, or the reason why there is none. */
export interface Listener {
  answered(message: Buffer): void
  failed(reason: 'unreachable' | 'malformed'): void
}

/** A query that was sent over UDP. */
export interface Datagram {
  readonly id: number
  readonly query: Buffer
  readonly listener: Listener
}

/** A UDP socket connected to one server, so that the system discards packets from elsewhere. */
export interface UdpSocket {
  /** The number of queries sent. The longer a source port is in use, the easier it is to forge answers to it. */
  readonly used: number
  /** Sends a query, without EDNS if it is plain. Calls the listener at most once, and not before this returns. */
  send(question: Question, isPlain: boolean, listener: Listener): Datagram
  resend(datagram: Datagram): void
  /** Stops waiting for an answer. */
  forget(datagram: Datagram): void
  /** Closes the socket once no answer is pending. Resolves when it is closed. */
  retire(): Promise<void>
  close(): Promise<void>
}

/** The size of the receive buffer in bytes: enough for a burst of answers while the process is busy. */
const receiveBufferSize = 1024 * 1024

/**
 * Opens a socket on a random port. It does not keep the process alive.
 * @throws the system's error when there is no route to the server, or no socket left.
 */
export async function openUdpSocket(server: DnsServer, statistics: DnsStatistics): Promise<UdpSocket> {
  /** Unanswered queries, a few dozen at most. Not a Map, which would keep old entries in memory (client.ts, `end`). */
  const pending: Datagram[] = []
  const type = `udp${addressFamily(server.address)}` as const
  const socket = createSocket({ type, recvBufferSize: receiveBufferSize }).unref()
  socket.connect(server.port, server.address)
  try {
    await once(socket, 'connect')
  } catch (error) {
    socket.close()
    throw error
  }

  const closed = new Promise<void>((resolve) => void socket.once('close', resolve))
  let used = 0
  let retired = false
  let closing = false

  const close = () => {
    if (!closing) socket.close()
    closing = true
    return closed
  }
  const withId = (id: number) => pending.find((datagram) => datagram.id === id)
  const forget = (datagram: Datagram) => {
    const index = pending.indexOf(datagram)
    if (index === -1) return false
    pending.splice(index, 1)
    if (retired && pending.length === 0) void close()
    return true
  }
  const fail = (datagram: Datagram) => {
    if (forget(datagram)) datagram.listener.failed('unreachable')
  }
  const failAll = () => [...pending].forEach(fail)
  /**
   * Sends a datagram. The system reports an ICMP "port unreachable" with the next packet sent or received; it applies
   * to all unanswered queries.
   */
  const transmit = (datagram: Datagram) => {
    socket.send(datagram.query, (error: NodeJS.ErrnoException | null) => {
      if (error?.code === 'ECONNREFUSED') failAll()
      else if (error) fail(datagram)
    })
  }

  socket.on('message', (message) => {
    const id = message.length >= 2 ? message.readUInt16BE(0) : -1
    const datagram = withId(id)
    if (datagram === undefined || !answersQuery(message, datagram.query)) {
      statistics.rejected++
      return
    }
    statistics.received++
    forget(datagram)
    datagram.listener.answered(message)
  })
  socket.on('error', failAll)

  return {
    get used() {
      return used
    },
    send(question, isPlain, listener) {
      let id = randomInt(0x10000)
      while (withId(id) !== undefined) id = randomInt(0x10000)
      const datagram = { id, query: encodeQuery(id, question, isPlain), listener }
      pending.push(datagram)
      used++
      statistics.sent++
      transmit(datagram)
      return datagram
    },
    resend(datagram) {
      statistics.retransmitted++
      transmit(datagram)
    },
    forget,
    retire() {
      retired = true
      return pending.length === 0 ? close() : closed
    },
    close,
  }
}

/**
 * Sends a query over TCP (RFC 7766) on a new connection, without EDNS if it is plain. A message has at most 65,535 bytes. Calls the listener once,
 * and not before this returns. A message that does not answer the query is malformed. Returns a function that cancels
 * the query.
 */
export function sendOverTcp(
  server: DnsServer,
  { question, isPlain }: { readonly question: Question; readonly isPlain: boolean },
  statistics: DnsStatistics,
  listener: Listener,
): () => void {
  const query = encodeQuery(randomInt(0x10000), question, isPlain)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(query.length)
  const socket = connect({ host: server.address, port: server.port, noDelay: true })
  statistics.tcp++
  socket.write(Buffer.concat([length, query]))

  let received: Buffer = Buffer.alloc(0)
  const finish = (notify: () => void) => {
    cancel()
    notify()
  }
  const cancel = () => {
    socket.removeAllListeners()
    // A cancelled connection may still report an error.
    socket.on('error', () => undefined)
    socket.destroy()
  }
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    const end = received.length < 2 ? Number.POSITIVE_INFINITY : 2 + received.readUInt16BE(0)
    if (received.length < end) return
    const message = received.subarray(2, end)
    if (answersQuery(message, query)) {
      statistics.received++
      finish(() => listener.answered(message))
    } else {
      statistics.rejected++
      finish(() => listener.failed('malformed'))
    }
  })
  socket.on('error', () => finish(() => listener.failed('unreachable')))
  socket.on('close', () => finish(() => listener.failed('unreachable')))
  return cancel
}
