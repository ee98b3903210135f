import type { WebSocket } from 'ws'
import { z } from 'zod'
import { described } from '../../core/described.ts'
import { NOT_HTTP } from '../../network/outbound/response-head.ts'
import { TolerantConnection } from '../../network/outbound/tolerant-connection.ts'
import { ConversationError } from './conversation.ts'
import {
  type ClientConnection,
  clientProbe,
  limitReceived,
  RECIPIENT,
  serverOptions,
  tlsOptions,
} from './server-probe.ts'

/** The maximum length of a message, in bytes. */
const MAX_MESSAGE = 64 * 1024

const path = z
  .string()
  .max(2000)
  .regex(/^\/[\x21\x22\x24-\x7e]*$/, 'must begin with / and have neither spaces, # nor letters beyond ASCII')

const subprotocol = z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, 'must be the name of a subprotocol')

const options = z.strictObject({
  ...serverOptions(443),
  ...tlsOptions,
  tls: tlsOptions.tls.default(true),
  path: described(path.default('/'), { label: 'Path', description: 'The path of the URL.' }),
  subprotocol: described(subprotocol.optional(), {
    label: 'Subprotocol',
    description: 'The subprotocol to request, which the server must accept. Default: none.',
    hint: 'The server must accept it. Empty: none.',
    isRare: true,
  }),
  send: described(z.string().min(1, 'must not be empty').max(4000).optional(), {
    label: 'Send',
    description: 'A message to send once it is open. Default: none.',
    secret: RECIPIENT,
    isRare: true,
  }),
  expect: described(z.string().min(1, 'must not be empty').max(1000).optional(), {
    label: 'Expect',
    description: 'A text that a message of the server must contain. Default: does not wait for messages.',
    hint: 'A text that a message of the server must contain. Empty: does not wait for messages.',
    isRare: true,
  }),
})

type Options = z.output<typeof options>

/** Opens a websocket (RFC 6455), optionally sends a message and waits for one, and closes the websocket. */
export const websocket = clientProbe({
  kind: 'WEBSOCKET',
  options: options.refine(({ port }) => port !== 25, { path: ['port'], message: 'must not be 25, which is for mail' }),
  words: {
    name: 'WebSocket',
    about: 'Opens a WebSocket, and can send a message and wait for one.',
  },
  // A message is masked with a random key (RFC 6455 §5.3).
  sentTexts: ({ send, expect, ...sent }) => sent,
  protocols: ['http/1.1'],
  async talk(client, given) {
    limitReceived(client)
    const { send, expect } = given
    const socket = await connecting(client, given)
    return new Promise((resolve, reject) => {
      const done = (said: string) => {
        resolve(said)
        socket.close(1000)
      }
      socket.on('open', () => {
        if (send !== undefined) socket.send(send)
        if (expect === undefined) done('Opened')
      })
      socket.on('message', (message: Buffer) => {
        if (expect !== undefined && message.includes(expect)) done('Received the expected message')
      })
      socket.on('unexpected-response', (_, { statusCode }) => reject(new ConversationError(refusalOf(statusCode))))
      socket.on('close', (code) => reject(new ConversationError(`The server closed the WebSocket (${code})`)))
      socket.on('error', (error) => reject(new ConversationError(problemIn(error))))
    })
  },
})

/** Starts to open a websocket over a connection. */
async function connecting(
  { socket }: ClientConnection,
  { host, port, tls, path, subprotocol }: Options,
): Promise<WebSocket> {
  const { WebSocket } = await import('ws')
  const name = host.includes(':') ? `[${host}]` : host
  return new WebSocket(`ws://${name}:${port}${path}`, subprotocol === undefined ? [] : [subprotocol], {
    createConnection: () => new TolerantConnection(socket),
    headers: { host: `${name}${port === (tls ? 443 : 80) ? '' : `:${port}`}`, 'user-agent': 'Allclear' },
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE,
    // Thousands of messages may arrive at once; others have their turns in between.
    allowSynchronousEvents: false,
  })
}

const FOREIGN = 'The server does not speak WebSocket'

const refusalOf = (status = 0) => (status === 101 ? FOREIGN : `HTTP ${status} instead of 101`)

/** Describes the problem of an answer that the library rejects. */
function problemIn({ message, code = '' }: Error & { readonly code?: string }): string {
  if (message === NOT_HTTP) return 'The server does not speak HTTP'
  if (code.startsWith('HPE_')) return 'The server does not speak HTTP'
  if (/^Invalid (?:Upgrade|Sec-WebSocket-Accept) header/.test(message)) return FOREIGN
  if (/subprotocol/i.test(message)) return 'The server does not accept the subprotocol'
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
    return `The server sent a message of more than ${MAX_MESSAGE / 1024} KiB`
  return code === 'ECONNRESET' ? 'The server closed the connection' : message
}
