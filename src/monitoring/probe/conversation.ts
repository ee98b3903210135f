import type { Socket } from 'node:net'
import { SECOND } from '../../core/time.ts'

/** The maximum number of unprocessed bytes. */
const MAX_BYTES = 16 * 1024

/** A failed conversation with a server. The message describes the server's behaviour. */
export class ConversationError extends Error {
  override readonly name = 'ConversationError'
  /** Whether the only failure is that the probe was aborted. */
  readonly isAborted: boolean

  constructor(message: string, isAborted = false) {
    super(message)
    this.isAborted = isAborted
  }
}

/** Exchanges data with a server, within limits. */
export interface Conversation {
  send(data: string | Buffer): void
  /** Returns the next bytes. @throws ConversationError. */
  bytes(count: number): Promise<Buffer>
  /** Returns the text up to and including `end`, decoded as Latin-1. @throws ConversationError. */
  until(end: string): Promise<string>
}

/**
 * Starts a conversation over a connection. The caller destroys the socket.
 * @param limits the rest of the timeout, and the abort signal.
 */
export function converse(
  socket: Socket,
  { leftMs, timeoutMs, signal }: { readonly leftMs: number; readonly timeoutMs: number; readonly signal: AbortSignal },
): Conversation & { stop(): void } {
  let received = Buffer.alloc(0)
  let trouble: ConversationError | null = null
  let wake = () => {}
  const end = (message: string, isAborted = false) => {
    trouble ??= new ConversationError(message, isAborted)
    wake()
  }
  const onData = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    if (received.length > MAX_BYTES) end('The server sent more than 16 KiB at once')
    else wake()
  }
  const onClose = () => end('The server closed the connection')
  const onAbort = () => end('The probe was aborted', true)
  const timer = setTimeout(() => end(`No answer within ${timeoutMs / SECOND} s`), Math.max(1, leftMs))
  socket.on('data', onData)
  socket.on('close', onClose)
  socket.on('error', onClose)
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()

  /** Takes as many bytes as `ready` returns, which returns -1 until enough bytes have arrived. */
  async function take(ready: () => number): Promise<Buffer> {
    for (;;) {
      const count = trouble?.isAborted ? -1 : ready()
      if (count >= 0) {
        const part = received.subarray(0, count)
        received = received.subarray(count)
        return part
      }
      if (trouble !== null) throw trouble
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }

  return {
    send: (data) => void socket.write(data),
    bytes: (count) => take(() => (received.length >= count ? count : -1)),
    async until(mark) {
      const part = await take(() => {
        const at = received.indexOf(mark, 0, 'latin1')
        return at === -1 ? -1 : at + mark.length
      })
      return part.toString('latin1')
    },
    stop() {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      socket.off('data', onData)
      socket.off('close', onClose)
      socket.pause()
    },
  }
}
