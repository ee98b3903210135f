/**
 * The thread in which TLS to servers that others name is computed: OpenSSL verifies up to a hundred certificates in one
 * go, which takes half a second for the worst ones. The main thread keeps the connections and exchanges bytes with it.
 */
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { Duplex } from 'node:stream'
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'
import { parentPort, workerData } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { certificationPath, commonName, createTrust, firstToExpire } from './certification-path.ts'
import type { Certificate } from './failure.ts'
import type { Identity } from './outbound.ts'
import {
  KEY_MISMATCH,
  type TlsReply,
  type TlsRequest,
  type TlsSettings,
  type TlsThreadSettings,
  WINDOW_BYTES,
} from './tls-message.ts'
import { boundedTls } from './tls-options.ts'

/** From how many milliseconds on the time that a message took is reported. */
const BUSY_MS = 20

const { ca } = workerData as TlsThreadSettings
const open = new Map<number, OpenConnection>()
const contextOf = createSecureContexts()
const isIssuedByTrusted = createTrust(ca)

function send(reply: TlsReply, bytes?: Uint8Array): void {
  parentPort?.postMessage(reply, bytes ? [bytes.buffer as ArrayBuffer] : [])
}

/** Returns bytes in memory of their own, which can be transferred. */
function own(chunks: readonly Buffer[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** The encrypted side of a connection. */
class Wire extends Duplex {
  readonly #id: number
  #unread = 0

  constructor(id: number) {
    super()
    this.#id = id
  }

  /** Adds bytes of the server; null: it sends no more. */
  add(bytes: Uint8Array | null): void {
    if (this.destroyed || this.readableEnded) return
    if (bytes === null) this.push(null)
    else if (this.push(Buffer.from(bytes.buffer))) send({ kind: 'read', id: this.#id, count: bytes.length })
    else this.#unread += bytes.length
  }

  override _read(): void {
    if (this.#unread === 0) return
    send({ kind: 'read', id: this.#id, count: this.#unread })
    this.#unread = 0
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const bytes = own([chunk])
    send({ kind: 'encrypted', id: this.#id, bytes }, bytes)
    done()
  }

  override _final(done: () => void): void {
    send({ kind: 'finished', id: this.#id })
    done()
  }
}

interface OpenConnection {
  readonly wire: Wire
  readonly secured: TLSSocket
  /** The caller has read so many bytes. */
  onRead(count: number): void
}

function start(id: number, { host, protocols, identity }: TlsSettings): void {
  const context = contextOf(identity)
  if (context === null) {
    send({ kind: 'failed', id, code: KEY_MISMATCH })
    return
  }
  const wire = new Wire(id)
  // An address is not a server name (RFC 6066 §3). The certificate is verified afterwards, so failures can include it.
  const servername = isIP(host) ? '' : host
  const offered = protocols === undefined ? {} : { ALPNProtocols: [...protocols] }
  const options = { socket: wire, host, servername, secureContext: context, rejectUnauthorized: false, ...offered }
  const secured = connect(options)
  secured.once('secureConnect', () => send({ kind: 'secured', id, certificate: certificateOf(secured, host) }))
  secured.on('error', ({ code = '' }: NodeJS.ErrnoException) => send({ kind: 'failed', id, code }))
  wire.on('error', () => {})
  open.set(id, { wire, secured, onRead: forward(id, secured) })
}

/** Sends decrypted bytes, those that arrive together in one message. Returns a function for what has been read. */
function forward(id: number, secured: TLSSocket): (count: number) => void {
  let waiting: Buffer[] = []
  let unread = 0
  function flush() {
    if (waiting.length === 0) return
    const bytes = own(waiting)
    waiting = []
    send({ kind: 'decrypted', id, bytes }, bytes)
  }
  secured.on('data', (chunk: Buffer) => {
    if (waiting.push(chunk) === 1) setImmediate(flush)
    unread += chunk.length
    if (unread > WINDOW_BYTES) secured.pause()
  })
  secured.on('end', () => {
    flush()
    send({ kind: 'ended', id })
  })
  secured.on('close', () => {
    flush()
    if (open.delete(id)) send({ kind: 'ended', id })
  })
  return (count) => {
    unread -= count
    if (unread <= WINDOW_BYTES) secured.resume()
  }
}

function certificateOf(secured: TLSSocket, host: string): Certificate {
  // Reads only what it needs. `getPeerCertificate` would also print all names.
  const own = secured.getPeerX509Certificate()
  // Node's types say that this is an error, but it is the code of one.
  const problem = secured.authorized ? null : String(secured.authorizationError)
  const first = own && firstToExpire(certificationPath(own, isIssuedByTrusted))
  const { validFrom = '', validTo = '' } = first ?? {}
  const issuer = first === undefined || first === own ? null : commonName(first)
  return { validFrom: new Date(validFrom), validTo: new Date(validTo), problem, issuer, host }
}

/** Returns a function that returns the context with or without an identity; null: its key is not the certificate's. */
function createSecureContexts(): (identity: Identity | undefined) => SecureContext | null {
  // Created once, because parsing the trusted certificates takes longer than a handshake.
  const withoutIdentity = createSecureContext({ ca, ...boundedTls })
  const known = new LRUCache<string, SecureContext>({ max: 200 })
  return (identity) => {
    if (identity === undefined) return withoutIdentity
    const { certificate: cert, key } = identity
    const name = createHash('sha256')
      .update(JSON.stringify([cert, key]))
      .digest('base64')
    try {
      const context = known.get(name) ?? createSecureContext({ ca, cert, key, ...boundedTls })
      known.set(name, context)
      return context
    } catch {
      return null
    }
  }
}

/** Measures how long each message keeps the thread busy, and reports it if it is long. */
const busy = {
  id: 0,
  since: 0,
  begin(id: number): void {
    busy.end()
    busy.id = id
    busy.since = performance.now()
    setImmediate(busy.end)
  },
  end(): void {
    if (busy.id === 0) return
    const ms = performance.now() - busy.since
    if (ms >= BUSY_MS) send({ kind: 'busy', id: busy.id, ms })
    busy.id = 0
  },
}

parentPort?.on('message', (request: TlsRequest) => {
  const { id, kind } = request
  busy.begin(id)
  if (kind === 'open') {
    start(id, request.settings)
    return
  }
  const connection = open.get(id)
  if (kind === 'close') {
    open.delete(id)
    connection?.secured.destroy()
    connection?.wire.destroy()
    send({ kind: 'closed', id })
  }
  if (connection === undefined) return
  const { wire, secured } = connection
  if (kind === 'encrypted') wire.add(request.bytes)
  else if (kind === 'ended') wire.add(null)
  else if (kind === 'write') secured.write(request.bytes, () => send({ kind: 'written', id }))
  else if (kind === 'finish') secured.end()
  else if (kind === 'read') connection.onRead(request.count)
})
send({ kind: 'ready' })
