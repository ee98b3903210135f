import type { WebSocket } from 'ws'
import { onBehalfOf } from '../../core/concurrency/owner.ts'
import { nextTimeSlice, turnOf as turnOfOwner } from '../../core/concurrency/time-slice.ts'
import { clientSubject } from '../../core/ip-address.ts'

/**
 * Returns what to wait for until it is the turn of an address; undefined: it is. Parsing, validation and coercion that
 * follow at once run before the work of others, so that many operations of one address delay another by one time slice.
 * Do not await undefined: others would find the same slice open before the work has begun.
 */
export function turnOf(address: string): Promise<void> | undefined {
  return turnOfOwner(() => clientSubject(address))
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
      () => clientSubject(address),
      () => take(message),
    )

  async function takeWaiting(first: Promise<void>): Promise<void> {
    socket.pause()
    for (let turn: Promise<void> | null = first; turn !== null; ) {
      await turn
      const [message = ''] = waiting.splice(0, 1)
      if (socket.readyState === socket.OPEN) takeOwn(message)
      turn = waiting.length === 0 ? null : nextTimeSlice(clientSubject(address), 'new')
    }
    socket.resume()
  }

  socket.on('message', (data) => {
    const message = String(data)
    // A socket with a waiting message is paused, but ws passes on what it has read.
    if (waiting.length > 0) return void waiting.push(message)
    const turn = turnOfOwner(() => clientSubject(address), 'new')
    if (turn === undefined) return takeOwn(message)
    waiting.push(message)
    void takeWaiting(turn)
  })
}
