import { once } from 'node:events'
import { createServer, request as forward, type IncomingMessage } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { onTestFinished } from 'vitest'

/** A proxy between a client and any server. */
export interface ForwardProxy {
  readonly url: string
  readonly port: number
  /** Requests so far, such as `CONNECT example.com:443` or `GET http://example.com/`, with the user. */
  readonly asked: string[]
}

interface ProxyGiven {
  /** The required `user:password`; absent: none. */
  readonly credentials?: string
  /** The status of its answer to CONNECT, instead of connecting. */
  readonly status?: number
  /** The addresses of names; all others resolve to 127.0.0.1. */
  readonly hosts?: Readonly<Record<string, string>>
  /** Its certificate and key in PEM; absent: no TLS. */
  readonly tls?: { readonly cert: string; readonly key: string }
}

/**
 * Starts an HTTP proxy on 127.0.0.1 for the rest of the test. It connects by CONNECT, and forwards requests in absolute
 * form.
 */
export async function startHttpProxy({ credentials, status, hosts = {}, tls }: ProxyGiven = {}): Promise<ForwardProxy> {
  const asked: string[] = []
  const server = tls ? createHttpsServer(tls) : createServer()
  const isAllowed = ({ method, url, headers }: IncomingMessage) => {
    const [, encoded = ''] = (headers['proxy-authorization'] ?? '').split(' ')
    const user = Buffer.from(encoded, 'base64').toString()
    asked.push([method, url, user].filter(Boolean).join(' '))
    return credentials === undefined || user === credentials
  }
  server.on('connect', (incoming: IncomingMessage, client: Duplex) => {
    client.on('error', () => undefined)
    const refusal = isAllowed(incoming) ? status : 407
    if (refusal !== undefined) return void client.end(`HTTP/1.1 ${refusal} No\r\ncontent-length: 0\r\n\r\n`)
    const { hostname, port } = new URL(`http://${incoming.url}`)
    pipe(client, connect(Number(port) || 80, hosts[hostname] ?? address(hostname)), () =>
      client.write('HTTP/1.1 200 Connected\r\n\r\n'),
    )
  })
  server.on('request', (incoming: IncomingMessage, outgoing) => {
    if (!isAllowed(incoming)) return void outgoing.writeHead(407).end()
    const { hostname, port, pathname, search } = new URL(incoming.url ?? '')
    const { method, headers } = incoming
    const host = hosts[hostname] ?? address(hostname)
    const onward = forward({ host, port: port || 80, method, path: pathname + search, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers)
      response.pipe(outgoing)
    })
    onward.on('error', () => outgoing.writeHead(502).end())
    incoming.pipe(onward)
  })
  const port = await listen(server)
  return { url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`, port, asked }
}

/** Starts a SOCKS 5 proxy on 127.0.0.1 for the rest of the test. */
export async function startSocksProxy({
  credentials,
  reply = 0,
}: {
  readonly credentials?: string
  readonly reply?: number
} = {}): Promise<ForwardProxy> {
  const asked: string[] = []
  const server = createTcpServer((client) => void serve(client).catch(() => client.destroy()))
  async function serve(client: Socket): Promise<void> {
    const user = await signIn(client, credentials)
    if (user === null) return void client.end()
    const [, , , type] = await take(client, 4)
    const bytes = await take(client, type === 1 ? 4 : type === 4 ? 16 : ((await take(client, 1))[0] ?? 0))
    const host = type === 1 ? bytes.join('.') : type === 4 ? `[${bytes.toString('hex')}]` : bytes.toString()
    const port = (await take(client, 2)).readUInt16BE()
    asked.push([`${host}:${port}`, user].filter(Boolean).join(' '))
    const answer = Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0])
    if (reply !== 0) return void client.end(answer)
    pipe(client, connect(port, address(host)), () => client.write(answer))
  }
  const port = await listen(server)
  return { url: `socks5://127.0.0.1:${port}`, port, asked }
}

/** Returns the user and password of a client, or an empty text; null: it offers no usable authentication. */
async function signIn(client: Socket, credentials: string | undefined): Promise<string | null> {
  const methods = await take(client, (await take(client, 2))[1] ?? 0)
  const method = credentials === undefined ? 0 : methods.includes(2) ? 2 : 0xff
  client.write(Buffer.from([5, method]))
  if (method !== 2) return method === 0 ? '' : null
  const name = await take(client, (await take(client, 2))[1] ?? 0)
  const password = await take(client, (await take(client, 1))[0] ?? 0)
  const user = `${name}:${password}`
  client.write(Buffer.from([1, user === credentials ? 0 : 1]))
  return user
}

const address = (host: string) => (/^[\d.]+$/.test(host) ? host : '127.0.0.1')

function pipe(client: Duplex, onward: Socket, whenConnected: () => void): void {
  onward.on('connect', () => {
    whenConnected()
    onward.pipe(client).pipe(onward)
  })
  onward.on('error', () => client.destroy())
  client.on('error', () => onward.destroy())
}

async function take(socket: Socket, count: number): Promise<Buffer> {
  for (;;) {
    const bytes: Buffer | null = count === 0 ? Buffer.alloc(0) : socket.read(count)
    if (bytes !== null) return bytes
    await once(socket, 'readable')
  }
}

async function listen(server: ReturnType<typeof createTcpServer>): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}
