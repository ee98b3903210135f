import { createSocket } from 'node:dgram'
import { addressFamily } from '../../core/ip-address.ts'

/** The maximum number of datagrams read. */
const MAX_ANSWERS = 16

/** The outcome of a datagram. */
export type UdpOutcome =
  | { readonly kind: 'met'; readonly bytes: number; readonly latencyMs: number }
  /** An answer that is not as expected. */
  | { readonly kind: 'unmet' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'aborted' }
  /** An error of the socket by its code; ECONNREFUSED: the host reports that nothing listens (ICMP). */
  | { readonly kind: 'failed'; readonly code: string }

/**
 * Sends a datagram to a checked address, once more after half the time without an answer, and waits for one that `isMet`
 * accepts. Only datagrams from that address and port count.
 * @param limits the time in milliseconds.
 */
export function exchangeUdp(
  { address, port }: { readonly address: string; readonly port: number },
  data: Buffer,
  isMet: (answer: Buffer) => boolean,
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
    // Stays, so that a later error does not throw.
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => finish({ kind: 'failed', code }))
    socket.on('message', (answer) => {
      answers++
      if (isMet(answer)) finish({ kind: 'met', bytes: answer.length, latencyMs: performance.now() - sentAt })
      else if (answers >= MAX_ANSWERS) finish({ kind: 'unmet' })
    })
    socket.once('connect', () => {
      send()
      timers.push(setTimeout(() => answers === 0 && send(), timeoutMs / 2))
    })
    timers.push(setTimeout(() => finish({ kind: answers > 0 ? 'unmet' : 'silent' }), Math.max(1, timeoutMs)))
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    else socket.connect(port, address)
  })
}
