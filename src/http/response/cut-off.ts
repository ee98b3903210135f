import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ErrorCode } from '../../core/errors.ts'
import { SECOND } from '../../core/time.ts'
import { earlyRefusal } from './early-refusal.ts'
import { refuseConnection } from './raw-refusal.ts'

/** How long a client has to take the answer, before its connection is closed. */
const LINGER_MS = 2 * SECOND

/** Refuses a request whose body is not read to its end, unless an answer has begun, and closes its connection. */
export function cutOff(
  request: IncomingMessage,
  response: ServerResponse,
  { status, code, message }: { readonly status: number; readonly code: ErrorCode; readonly message: string },
): void {
  const { socket } = request
  // The answers of earlier requests on the connection go first.
  const mayAnswer = response.socket === socket && !response.headersSent
  if (!mayAnswer) return void socket.destroy()
  const { headers, body } = earlyRefusal(request, code, message)
  refuseConnection(socket, status, headers, body)
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
