import { Socket } from 'node:net'
import { type TlsReply, type TlsRequest, WINDOW_BYTES } from './tls-message.ts'

/** A message without the number of its connection. */
type Unnumbered<T> = T extends { readonly id: number } ? Omit<T, 'id'> : never
export type RequestOfSocket = Unnumbered<TlsRequest>
export type ReplyToSocket = Unnumbered<TlsReply>

/**
 * How many bytes a server may send per connection before any content, and for each byte of content. Certificates have
 * at most 100 KiB (OpenSSL's SSL_MAX_CERT_LIST_DEFAULT), and a record of one byte of content has at most 85: 5 of
 * header, and an IV, padding and a MAC (RFC 5246 §6.2.3.2). Without the limit, messages without content, such as
 * session tickets and new keys, could keep a thread busy for as long as the connection lasts.
 */
const MAX_BARE_BYTES = 256 * 1024
const MAX_BYTES_PER_BYTE = 100

/** The code of the error of a server that exceeds these limits. */
export const TOO_MUCH = 'ERR_TLS_TOO_MUCH'

/**
 * A connection over which a TLS thread speaks. Behaves like Node's `TLSSocket`: emits `secureConnect` with the
 * certificate when the handshake is done, and is closed with the connection.
 */
export class SecuredSocket extends Socket {
  readonly #connection: Socket
  readonly #send: (request: RequestOfSocket) => void
  #sentToThread = 0
  #received = 0
  #content = 0
  /** Decrypted bytes that the caller has not read. */
  #unread = 0
  #onWritten: ((error?: Error | null) => void) | null = null
  #isClosed = false
  /** The error with which the connection ended; null: none. What arrived before it is still decrypted. */
  #lost: Error | null = null

  /** @param send sends a message about this connection to its thread. */
  constructor(connection: Socket, send: (request: RequestOfSocket) => void) {
    super()
    this.#connection = connection
    this.#send = (request) => {
      if (!this.#isClosed) send(request)
    }
    connection.on('data', (chunk: Buffer) => this.#receive(chunk))
    connection.on('end', () => this.#send({ kind: 'ended' }))
    connection.on('error', (error) => {
      this.#lost = error
    })
    connection.on('close', () => this.#send({ kind: 'ended' }))
    // A server may have hung up while the thread was loading.
    if (connection.readableEnded || connection.destroyed) this.#send({ kind: 'ended' })
    else connection.resume()
  }

  #receive(chunk: Buffer): void {
    if (this.destroyed) return
    this.#received += chunk.length
    if (this.#received > MAX_BARE_BYTES + MAX_BYTES_PER_BYTE * this.#content) {
      this.destroy(failure(TOO_MUCH))
      return
    }
    this.#sentToThread += chunk.length
    // A copy, because only memory of its own can be transferred.
    this.#send({ kind: 'encrypted', bytes: new Uint8Array(chunk) })
    if (this.#sentToThread > WINDOW_BYTES) this.#connection.pause()
  }

  /** Takes a message of the thread. */
  onReply(reply: ReplyToSocket): void {
    if (this.destroyed) return
    if (reply.kind === 'encrypted') this.#sendToServer(reply.bytes)
    else if (reply.kind === 'finished') this.#connection.end()
    else if (reply.kind === 'decrypted') this.#takeContent(reply.bytes)
    else if (reply.kind === 'secured') this.emit('secureConnect', reply.certificate)
    else if (reply.kind === 'written') this.#takeWritten(null)
    else if (reply.kind === 'read') this.#takeRead(reply.count)
    else if (reply.kind === 'failed') this.destroy(this.#lost ?? failure(reply.code))
    else if (reply.kind === 'ended') this.#takeEnd()
  }

  /** A server that has hung up gets no more: the error of a write would lose its answer, which the thread still decrypts. */
  #sendToServer(bytes: Uint8Array): void {
    const { writable, readableEnded } = this.#connection
    if (writable && !readableEnded) this.#connection.write(bytes)
  }

  #takeContent(bytes: Uint8Array): void {
    this.#content += bytes.length
    this.#unread += bytes.length
    if (this.push(Buffer.from(bytes.buffer))) this._read()
  }

  /** Ends what the caller reads. An error of the connection comes after what it has not read yet. */
  #takeEnd(): void {
    const lost = this.#lost
    if (lost === null) this.push(null)
    else if (this.readableLength === 0) this.destroy(lost)
    else {
      this.once('end', () => this.destroy(lost))
      this.push(null)
    }
  }

  #takeRead(count: number): void {
    this.#sentToThread -= count
    if (this.#sentToThread <= WINDOW_BYTES / 2) this.#connection.resume()
  }

  #takeWritten(error: Error | null): void {
    const onWritten = this.#onWritten
    this.#onWritten = null
    onWritten?.(error)
  }

  override _read(): void {
    if (this.#unread === 0) return
    this.#send({ kind: 'read', count: this.#unread })
    this.#unread = 0
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#onWritten = done
    this.#send({
      kind: 'write',
      bytes: new Uint8Array(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk),
    })
  }

  override _writev(
    chunks: { chunk: Buffer | string; encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    const parts = chunks.map(({ chunk, encoding }) =>
      typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk,
    )
    this._write(Buffer.concat(parts), 'utf8', done)
  }

  override _final(done: () => void): void {
    this.#send({ kind: 'finish' })
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#send({ kind: 'close' })
    this.#isClosed = true
    this.#connection.destroy()
    this.#takeWritten(error ?? failure('ERR_STREAM_DESTROYED'))
    super._destroy(error, done)
  }
}

/** Returns the error of a failed connection. */
function failure(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error('TLS failed'), { code })
}
