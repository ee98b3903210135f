import { randomInt } from 'node:crypto'
import type { DnsServer } from '../../core/config.ts'
import type { Question } from './message.ts'
import type { Datagram, DnsStatistics, Listener, UdpSocket } from './transport.ts'
import { openUdpSocket } from './transport.ts'

/** A pool of UDP sockets to one server. It opens sockets when they are needed, and replaces them after some queries. */
export interface SocketPool {
  /** Returns whether a query can be sent now. */
  isReady(): boolean
  /** Opens the sockets that are missing. */
  fill(): void
  /**
   * Sends a query on a random socket, without EDNS if it is plain. Calls the listener at most once, and not before this
   * returns.
   */
  send(
    question: Question,
    isPlain: boolean,
    listener: Listener,
  ): { readonly socket: UdpSocket; readonly datagram: Datagram }
  /** Closes all sockets. */
  close(): Promise<void>
}

/**
 * The number of sockets in use, and of queries per socket. Several ports make a forger guess the port as well as the id
 * (RFC 5452 §9.2).
 */
const SOCKETS = 4
const QUERIES_PER_SOCKET = 300

/**
 * Creates a pool without sockets.
 * @param onReady called when a socket has opened.
 * @param onUnreachable called when no socket is open and none could be opened.
 */
export function createSocketPool(
  server: DnsServer,
  statistics: DnsStatistics,
  { onReady, onUnreachable }: { readonly onReady: () => void; readonly onUnreachable: () => void },
): SocketPool {
  const sockets = new Set<UdpSocket>()
  /** Sockets in `sockets` that still accept queries. */
  const usable: UdpSocket[] = []
  const openings = new Set<Promise<void>>()

  function fill() {
    while (usable.length + openings.size < SOCKETS) {
      const opening = openUdpSocket(server, statistics).then(
        (socket) => {
          openings.delete(opening)
          sockets.add(socket)
          usable.push(socket)
          onReady()
        },
        () => {
          openings.delete(opening)
          if (usable.length + openings.size === 0) onUnreachable()
        },
      )
      openings.add(opening)
    }
  }

  return {
    isReady: () => usable.length > 0,
    fill,
    send(question, isPlain, listener) {
      const index = randomInt(usable.length)
      const socket = usable[index]
      if (socket === undefined) throw new RangeError('There is no socket to send on')
      const datagram = socket.send(question, isPlain, listener)
      if (socket.used >= QUERIES_PER_SOCKET) {
        usable.splice(index, 1)
        void socket.retire().then(() => sockets.delete(socket))
        fill()
      }
      return { socket, datagram }
    },
    async close() {
      await Promise.all(openings)
      await Promise.all([...sockets].map((socket) => socket.close()))
    },
  }
}
