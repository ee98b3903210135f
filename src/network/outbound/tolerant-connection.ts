import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { createChunkReader } from './response-chunks.ts'
import { createHeadReader, type ReadHead, UnreadableHead } from './response-head.ts'

/** The maximum number of interim responses (RFC 9110 §15.2). Servers send one or two. */
const MAX_INTERIM_RESPONSES = 100

/**
 * A connection for one request in HTTP/1.1 whose response may break HTTP: it delivers a head and chunks that Node's parser
 * accepts. Fails with `UnreadableHead`.
 */
export class TolerantConnection extends Duplex {
  readonly #connection: Socket
  #readHead: ReturnType<typeof createHeadReader> | null = createHeadReader()
  #readBody: (bytes: Buffer) => Buffer = (bytes) => bytes
  #interimResponses = 0
  readonly #oddities = new Set<string>()

  constructor(connection: Socket) {
    super()
    this.#connection = connection
    connection.on('data', (chunk: Buffer) => this.#receive(chunk))
    let hasEnded = false
    connection.on('end', () => {
      hasEnded = true
      this.push(null)
    })
    connection.on('error', (error) => this.destroy(error))
    // What arrived before the end may still be unread.
    connection.on('close', () => hasEnded || this.destroy())
  }

  /** What the response does, as far as it has arrived, that HTTP forbids or that many clients refuse, as phrases. */
  get oddities(): readonly string[] {
    return [...this.#oddities]
  }

  #receive(chunk: Buffer): void {
    if (this.destroyed) return
    try {
      const bytes = this.#repair(chunk)
      if (bytes.length > 0 && !this.push(bytes)) this.#connection.pause()
    } catch (error) {
      if (!(error instanceof UnreadableHead)) throw error
      this.destroy(error)
    }
  }

  #repair(received: Buffer): Buffer {
    const delivered: Buffer[] = []
    let chunk = received
    while (this.#readHead !== null) {
      const read = this.#readHead(chunk)
      if (read === null) return Buffer.concat(delivered)
      delivered.push(read.head)
      chunk = read.rest
      const isInterim = read.status >= 100 && read.status < 200 && read.status !== 101
      this.#readHead = isInterim ? createHeadReader() : null
      if (isInterim) this.#countInterim()
      else this.#expectBody(read)
      if (chunk.length === 0) break
    }
    const body = this.#readBody(chunk)
    return delivered.length === 0 ? body : Buffer.concat([...delivered, body])
  }

  /** Thousands may arrive at once. Node's parser would take them all before anything could end it. */
  #countInterim(): void {
    this.#interimResponses += 1
    if (this.#interimResponses > MAX_INTERIM_RESPONSES) throw new UnreadableHead('Too many interim responses')
  }

  #expectBody({ oddities, isChunked }: ReadHead): void {
    for (const each of oddities) this.#oddities.add(each)
    if (isChunked) this.#readBody = createChunkReader(this.#oddities)
  }

  override _read(): void {
    this.#connection.resume()
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#connection.write(chunk, encoding, done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#connection.destroy()
    done(error)
  }
}
