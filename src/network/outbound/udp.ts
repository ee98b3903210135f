import { createSocket } from 'node:dgram'
import { addressFamily } from '../../core/ip-address.ts'

/** The maximum number of datagrams to read. */
const MAX_ANSWERS = 16

/** The outcome of sending a datagram. */
export type UdpOutcome =
  | { readonly kind: 'expected'; readonly bytes: number; readonly latencyMs: number }
  /** Only answers that `isExpected` rejects arrived. */
  | { readonly kind: 'unexpected' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'aborted' }
  /** The code of an error of the socket. ECONNREFUSED: the host reports that nothing listens on the port (ICMP). */
  | { readonly kind: 'failed'; readonly code: string }

/**
 * Sends a datagram to a checked address, and waits for an answer that `isExpected` accepts. Sends it again if nothing
 * has arrived after half the time. Only datagrams from that address and port count.
 */
export function exchangeUdp(
  { address, port }: { readonly address: string; readonly port: number },
  data: Buffer,
  isExpected: (answer: Buffer) => boolean,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<UdpOutcome> {
  return new Promise((resolve) => {
    const socket = createSocket(addressFamily(address) === 6 ? 'udp6' : 'udp4')
    const timers: NodeJS.Timeout[] = []
    let answers = 0
    let sentAt = 0
    const end = (outcome: UdpOutcome) => {
      for (const timer of timers) clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      socket.removeAllListeners('message').close()
      resolve(outcome)
      end.isDone = true
    }
    end.isDone = false
    const finish = (outcome: UdpOutcome) => {
      if (!end.isDone) end(outcome)
    }
    const onAbort = () => finish({ kind: 'aborted' })
    const send = () => {
      if (end.isDone) return
      sentAt ||= performance.now()
      socket.send(data)
    }
    // The listener stays on the socket, so that a later error does not throw.
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => finish({ kind: 'failed', code }))
    socket.on('message', (answer) => {
      answers++
      if (isExpected(answer)) finish({ kind: 'expected', bytes: answer.length, latencyMs: performance.now() - sentAt })
      else if (answers >= MAX_ANSWERS) finish({ kind: 'unexpected' })
    })
    socket.once('connect', () => {
      send()
      timers.push(setTimeout(() => answers === 0 && send(), timeoutMs / 2))
    })
    timers.push(setTimeout(() => finish({ kind: answers > 0 ? 'unexpected' : 'silent' }), Math.max(1, timeoutMs)))
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    else socket.connect(port, address)
  })
}
