import { request } from 'node:http'
import { isIPv4, isIPv6, type Socket } from 'node:net'
import { reversedLabels } from '../../core/ip-address.ts'
import { ownValue } from '../../core/own-value.ts'
import { type Attempt, awaiting, inPhase, Stop } from './attempt.ts'

/** A proxy between us and a target. */
export interface ProxyServer {
  /** An http://, https:// or socks5:// URL without credentials and path. */
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** The target of a tunnel: an address, or a name that the proxy resolves. */
interface TunnelTarget {
  readonly host: string
  readonly port: number
}

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'socks5:': 1080 }

/** Returns the host and port of a proxy, and whether the connection to it uses TLS. */
export function proxyAddress({ url }: Pick<ProxyServer, 'url'>): { host: string; port: number; isSecure: boolean } {
  const { hostname, protocol, port } = new URL(url)
  return {
    host: hostname,
    port: Number(port) || (ownValue(defaultPorts, protocol) ?? 0),
    isSecure: protocol === 'https:',
  }
}

/** Returns whether a proxy is an HTTP proxy, which also forwards requests. */
export const isHttpProxy = ({ url }: Pick<ProxyServer, 'url'>): boolean => /^https?:/.test(url)

/** Returns the credentials for an HTTP proxy as a header value (RFC 7617); null: there are none. */
export function proxyAuthorization({ username, password = '' }: ProxyServer): string | null {
  return username === undefined ? null : `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/**
 * Makes a proxy connect to a target, with CONNECT (RFC 9110 §9.3.6) or SOCKS 5 (RFC 1928).
 * @param socket a connection to the proxy.
 * @throws Stop `proxy` when the proxy refuses, `unreachable` when it cannot reach the target.
 */
export function openTunnel(socket: Socket, proxy: ProxyServer, target: TunnelTarget, state: Attempt): Promise<void> {
  return inPhase(state, 'connect', 'connection through the proxy', () =>
    isHttpProxy(proxy) ? connectByHttp(socket, proxy, target, state) : connectBySocks(socket, proxy, target, state),
  )
}

/** Returns the failure of a proxy, which says nothing about the target. */
export function proxyFailure(message: string): Stop {
  return new Stop('proxy', 'ours', message)
}

const MAX_HEAD_BYTES = 16 * 1024

async function connectByHttp(socket: Socket, proxy: ProxyServer, target: TunnelTarget, state: Attempt): Promise<void> {
  const place = `${isIPv6(target.host) ? `[${target.host}]` : target.host}:${target.port}`
  const authorization = proxyAuthorization(proxy)
  const status = await awaiting<number>(state, (resolve, reject) => {
    const sent = request({
      createConnection: () => socket,
      method: 'CONNECT',
      path: place,
      headers: { host: place, ...(authorization !== null && { 'proxy-authorization': authorization }) },
      maxHeaderSize: MAX_HEAD_BYTES,
    })
    sent.once('connect', ({ statusCode = 0 }, connection, head) => {
      if (head.length > 0) connection.unshift(head)
      resolve(statusCode)
    })
    // Some proxies answer as if a document had been requested.
    sent.once('response', ({ statusCode = 0 }) => resolve(statusCode))
    sent.on('error', () => reject(proxyFailure('The proxy closed the connection without an HTTP response')))
    sent.end()
    return () => socket.destroy()
  })
  if (status >= 200 && status < 300) return
  throw connectFailure(status)
}

/** Returns the failure for the status with which a proxy refuses to connect. */
export function connectFailure(status: number): Stop {
  if (status === 502 || status === 503 || status === 504)
    return new Stop('unreachable', 'theirs', `The proxy could not connect to the host (HTTP ${status})`)
  if (status === 407) return proxyFailure('The proxy requires a valid user name and password (HTTP 407)')
  return proxyFailure(`The proxy refused to connect (HTTP ${status})`)
}

const SOCKS = 5
const [NO_SIGN_IN, PASSWORD, NONE_ACCEPTED] = [0, 2, 0xff]
const CONNECT = 1
const [IPV4, NAME, IPV6] = [1, 3, 4]

async function connectBySocks(socket: Socket, proxy: ProxyServer, target: TunnelTarget, state: Attempt): Promise<void> {
  const read = (count: number) => readBytes(socket, count, state)
  await signInToSocks(socket, proxy, read)
  const port = Buffer.from([target.port >> 8, target.port & 0xff])
  socket.write(Buffer.concat([Buffer.from([SOCKS, CONNECT, 0]), socksAddress(target.host), port]))
  const [version, reply = 1, , type] = await read(4)
  if (version !== SOCKS) throw proxyFailure('The proxy does not use SOCKS 5')
  if (reply !== 0) throw socksFailure(reply)
  const length = type === IPV4 ? 4 : type === IPV6 ? 16 : ((await read(1))[0] ?? 0)
  await read(length + 2)
}

/**
 * Authenticates with a user name and password if the proxy requires it (RFC 1929).
 * @throws Stop `proxy`
 */
async function signInToSocks(
  socket: Socket,
  { username, password = '' }: ProxyServer,
  read: (count: number) => Promise<Buffer>,
): Promise<void> {
  const methods = username === undefined ? [NO_SIGN_IN] : [NO_SIGN_IN, PASSWORD]
  socket.write(Buffer.from([SOCKS, methods.length, ...methods]))
  const [version, method = NONE_ACCEPTED] = await read(2)
  if (version !== SOCKS) throw proxyFailure('The proxy does not use SOCKS 5')
  if (!methods.includes(method)) throw proxyFailure('The proxy supports none of our authentication methods')
  if (method === NO_SIGN_IN) return
  socket.write(Buffer.concat([Buffer.from([1]), withLength(username ?? ''), withLength(password)]))
  const [, status] = await read(2)
  if (status !== 0) throw proxyFailure('The proxy requires a valid user name and password')
}

const withLength = (text: string) => {
  const bytes = Buffer.from(text).subarray(0, 255)
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}

function socksAddress(host: string): Buffer {
  const labels = isIPv4(host) || isIPv6(host) ? reversedLabels(host).split('.').reverse() : []
  if (isIPv4(host)) return Buffer.from([IPV4, ...labels.map(Number)])
  if (isIPv6(host)) return Buffer.concat([Buffer.from([IPV6]), Buffer.from(labels.join(''), 'hex')])
  return Buffer.concat([Buffer.from([NAME]), withLength(host)])
}

/** Reads exactly `count` bytes. @throws Stop `proxy` when the connection closes before that. */
function readBytes(socket: Socket, count: number, state: Attempt): Promise<Buffer> {
  return awaiting(state, (resolve, reject) => {
    const settle = (done: () => void) => {
      socket.off('readable', onReadable).off('close', onClose)
      done()
    }
    const onReadable = () => {
      const bytes: Buffer | null = socket.read(count)
      if (bytes?.length === count) settle(() => resolve(bytes))
      else if (socket.readableEnded || bytes !== null) onClose()
    }
    const onClose = () => settle(() => reject(proxyFailure('The proxy closed the connection')))
    socket.on('readable', onReadable).on('close', onClose)
    // Deferred, because `awaiting` must not be settled synchronously.
    setImmediate(onReadable)
    return () => {
      settle(() => {})
      socket.destroy()
    }
  })
}

/** Messages for the SOCKS 5 replies that concern the target (RFC 1928 §6). */
const socksReplies: Readonly<Record<number, string>> = {
  3: 'The proxy cannot reach the network of the host',
  4: 'The proxy cannot reach the host',
  5: 'The host refused the connection of the proxy',
  6: 'The proxy cannot reach the host',
}

/** Returns the failure for a SOCKS 5 reply. */
export function socksFailure(reply: number): Stop {
  const message = socksReplies[reply]
  if (message !== undefined) return new Stop('unreachable', 'theirs', message)
  return proxyFailure(reply === 2 ? 'The proxy does not allow this connection' : `The proxy failed (SOCKS ${reply})`)
}
