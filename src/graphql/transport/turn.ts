import type { WebSocket } from 'ws'
import { onBehalfOf } from '../../core/concurrency/owner.ts'
import { isTimeSliceOver, nextTimeSlice } from '../../core/concurrency/time-slice.ts'
import { addressFamily, subnet64 } from '../../core/ip-address.ts'

/** Returns the owner of work for an address: IPv6 clients count by their /64. */
function ownerOf(address: string): string {
  return addressFamily(address) === 6 ? subnet64(address) : address
}

/**
 * Returns what to wait for until it is the turn of an address; undefined: it is. Parsing, validation and coercion that
 * follow at once run before the work of others, so that many operations of one address delay another by one time slice.
 * Do not await undefined: others would find the same slice open before the work has begun.
 */
export function turnOf(address: string): Promise<void> | undefined {
  return isTimeSliceOver() ? nextTimeSlice(ownerOf(address)) : undefined
}

/**
 * Takes the messages of a socket in order, each in a turn of its address. A socket with a waiting message is not read,
 * so that no more of them gather in memory.
 */
export function takeInTurns(
  socket: Pick<WebSocket, 'on' | 'pause' | 'resume' | 'readyState' | 'OPEN'>,
  address: string,
  take: (message: string) => void,
): void {
  const waiting: string[] = []
  const takeOwn = (message: string) =>
    onBehalfOf(
      () => ownerOf(address),
      () => take(message),
    )

  async function takeWaiting(): Promise<void> {
    socket.pause()
    while (waiting.length > 0) {
      await nextTimeSlice(ownerOf(address))
      const [message = ''] = waiting.splice(0, 1)
      if (socket.readyState === socket.OPEN) takeOwn(message)
    }
    socket.resume()
  }

  socket.on('message', (data) => {
    const message = String(data)
    if (waiting.length === 0 && !isTimeSliceOver()) return takeOwn(message)
    waiting.push(message)
    if (waiting.length === 1) void takeWaiting()
  })
}
