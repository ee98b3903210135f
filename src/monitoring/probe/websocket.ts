import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { Trouble } from './conversation.ts'
import { serverOptions, serverProbe, serverWords, tlsOptions, tlsWords } from './server-probe.ts'

/** RFC 6455 §1.3. */
const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

const options = z.strictObject({
  ...serverOptions(443),
  ...tlsOptions,
  tls: z.boolean().default(true),
  path: z
    .string()
    .max(2000)
    .regex(/^\/[\x21-\x7e]*$/, 'must begin with / and have neither spaces nor letters beyond ASCII')
    .default('/'),
  subprotocol: z
    .string()
    .regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, 'must be the name of a subprotocol')
    .optional(),
})

/** Opens a websocket (RFC 6455), and closes it. */
export const websocket = serverProbe({
  kind: 'WEBSOCKET',
  options: options.refine(({ port }) => port !== 25, { path: ['port'], message: 'must not be 25, which is for mail' }),
  words: {
    name: 'WebSocket',
    about: 'Opens a WebSocket.',
    options: {
      ...serverWords,
      ...tlsWords,
      path: { label: 'Path', description: 'The path of the URL. Default: /.' },
      subprotocol: {
        label: 'Subprotocol',
        description: 'The subprotocol to ask for, which the server must accept. Default: none.',
        hint: 'Which the server must accept. Empty: none.',
        isRare: true,
      },
    },
  },
  async talk(server, { host, port, tls, path, subprotocol }) {
    const key = randomBytes(16).toString('base64')
    const name = host.includes(':') ? `[${host}]` : host
    server.send(
      [
        `GET ${path} HTTP/1.1`,
        `Host: ${name}${port === (tls ? 443 : 80) ? '' : `:${port}`}`,
        'User-Agent: Allclear',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        `Sec-WebSocket-Key: ${key}`,
        ...(subprotocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${subprotocol}`]),
        '\r\n',
      ].join('\r\n'),
    )
    const [first = '', ...lines] = (await server.until('\r\n\r\n')).split('\r\n')
    const status = /^HTTP\/1\.1 (\d{3})/.exec(first)?.[1]
    if (status === undefined) throw new Trouble('The server does not speak HTTP')
    if (status !== '101') throw new Trouble(`HTTP ${status} instead of 101`)
    const header = (wanted: string) =>
      lines
        .find((line) => line.toLowerCase().startsWith(`${wanted}:`))
        ?.slice(wanted.length + 1)
        .trim()
    const accept = createHash('sha1')
      .update(key + MAGIC)
      .digest('base64')
    if (header('sec-websocket-accept') !== accept) throw new Trouble('The server does not speak WebSocket')
    if (header('sec-websocket-protocol') !== subprotocol)
      throw new Trouble('The server does not accept the subprotocol')
    // A close frame, masked with zeros.
    server.send(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]))
    return 'Opened'
  },
})
