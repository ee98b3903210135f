import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip, createGzip } from 'node:zlib'
import { z } from 'zod'
import { StartError } from '../core/errors.ts'
import { linesOf } from './lines.ts'

/*
 * The format of a backup file: a line with the format version and encryption parameters, frames, and a SHA-256 of all of it. A
 * frame is a length in four bytes, whose first bit marks the last frame, followed by gzip-compressed lines. Encrypted frames are
 * sealed with AES-256-GCM under a key that scrypt derives from the passphrase and the file's salt. The nonce is the frame number,
 * and the additional data covers the first line and the last-frame mark, so no frame can be changed, moved, dropped or truncated.
 */
const FORMAT = 'allclear-backup 1 '
const FRAME_BYTES = 256 * 1024
const TAG_BYTES = 16
const CHECKSUM_BYTES = 32
const LAST = 0x8000_0000
const MAX_HEAD_BYTES = 4096

/** The scrypt cost: each guess takes about 100 ms and 32 MB. */
const COST = 2 ** 15

const headSchema = z.object({
  createdAt: z.string(),
  /** The parameters of the key derivation; null: not encrypted. Another cost could take hours. */
  scrypt: z.object({ salt: z.base64().max(100), cost: z.literal(COST) }).nullable(),
})

type Head = z.infer<typeof headSchema>

type Seal = (frame: Buffer, number: number, isLast: boolean) => Buffer

/**
 * Writes lines to a new file that only this user can read. A failed write leaves no file.
 * @param passphrase encrypts the file; null: not encrypted.
 */
export async function writeArchive(
  file: string,
  lines: AsyncIterable<string>,
  { passphrase, now }: { readonly passphrase: string | null; readonly now: Date },
): Promise<void> {
  const salt = randomBytes(16).toString('base64')
  const head: Head = { createdAt: now.toISOString(), scrypt: passphrase === null ? null : { salt, cost: COST } }
  const first = `${FORMAT}${JSON.stringify(head)}\n`
  const seal = await sealing(first, head, passphrase)
  const unfinished = `${file}.unfinished`
  // What an interrupted run left. In a directory of several users, another’s file or link stays, and the write fails.
  await rm(unfinished, { force: true })
  try {
    const compressed = new PassThrough()
    const compressing = pipeline(Readable.from(withNewlines(lines)), createGzip(), compressed)
    const content = summed(framed(first, compressed, seal))
    await pipeline(Readable.from(content), createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true }))
    await compressing
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

async function* withNewlines(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`
}

async function* framed(first: string, content: AsyncIterable<Buffer>, seal: Seal): AsyncGenerator<Buffer> {
  yield Buffer.from(first)
  let number = 0
  let pending = Buffer.alloc(0)
  for await (const chunk of content) {
    pending = Buffer.concat([pending, chunk])
    while (pending.length > FRAME_BYTES) {
      yield frameOf(seal(pending.subarray(0, FRAME_BYTES), number++, false), false)
      pending = pending.subarray(FRAME_BYTES)
    }
  }
  yield frameOf(seal(pending, number, true), true)
}

function frameOf(content: Buffer, isLast: boolean): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE((content.length | (isLast ? LAST : 0)) >>> 0)
  return Buffer.concat([length, content])
}

async function* summed(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  for await (const chunk of content) {
    hash.update(chunk)
    yield chunk
  }
  yield hash.digest()
}

/**
 * Reads the lines of a file and verifies it at the same time. Do not use any line before the iteration ends, which confirms that
 * the file is complete and unchanged.
 * @throws StartError if it is not a backup, is damaged, has a later format, or the passphrase is wrong or missing.
 */
export async function* readArchive(file: string, passphrase: string | null): AsyncGenerator<string> {
  const { first, head } = await readHead(file)
  if (head.scrypt !== null && passphrase === null) {
    throw new StartError(`${file} is encrypted. Set ALLCLEAR_BACKUP_PASSPHRASE or --passphrase-file.`)
  }
  // Whoever can change the file could otherwise replace it by one of their own.
  if (head.scrypt === null && passphrase !== null) {
    throw new StartError(`${file} is not encrypted, although there is a passphrase. If you trust it, leave that out.`)
  }
  const unseal = await unsealing(file, first, head, passphrase)
  const decompressed = createGunzip()
  const reading = pipeline(Readable.from(framesOf(file, first, unseal)), decompressed)
  // The consumer of the lines gets the error.
  reading.catch(() => {})
  try {
    yield* linesOf(decompressed)
  } catch (cause) {
    throw cause instanceof StartError ? cause : damaged(file, cause)
  } finally {
    decompressed.destroy()
  }
  await reading
}

/** Returns whether a backup is encrypted. @throws StartError like `readArchive`. */
export async function isEncrypted(file: string): Promise<boolean> {
  return (await readHead(file)).head.scrypt !== null
}

/** Reads the first line of a file. @throws StartError like `readArchive`. */
async function readHead(file: string): Promise<{ readonly first: string; readonly head: Head }> {
  const foreign = new StartError(`${file} isn’t a backup that this version of Allclear can read.`)
  // Opening a pipe would wait for its writer.
  const isFile = await stat(file)
    .then((found) => found.isFile())
    .catch(cannotRead(file))
  if (!isFile) throw foreign
  const opened = await open(file).catch(cannotRead(file))
  const { buffer } = await opened.read(Buffer.alloc(MAX_HEAD_BYTES), 0, MAX_HEAD_BYTES, 0).finally(() => opened.close())
  const first = buffer.toString('latin1', 0, buffer.indexOf('\n') + 1)
  if (!first.startsWith(FORMAT)) throw foreign
  try {
    return { first, head: headSchema.parse(JSON.parse(first.slice(FORMAT.length))) }
  } catch {
    throw foreign
  }
}

const cannotRead = (file: string) => (cause: Error) => {
  throw new StartError(`Cannot read ${file}: ${cause.message}`, { cause })
}

/** Reads a whole file to verify it. @throws StartError like `readArchive`. */
export async function verifyArchive(file: string, passphrase: string | null): Promise<void> {
  for await (const _ of readArchive(file, passphrase));
}

async function* framesOf(file: string, first: string, unseal: Seal): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  const source = new Reader(createReadStream(file), file)
  const take = async (bytes: number) => {
    const taken = await source.take(bytes)
    hash.update(taken)
    return taken
  }
  await take(Buffer.byteLength(first))
  for (let number = 0; ; number++) {
    const word = (await take(4)).readUInt32BE()
    const length = word & ~LAST
    if (length > FRAME_BYTES + TAG_BYTES) throw damaged(file)
    yield unseal(await take(length), number, (word & LAST) !== 0)
    if ((word & LAST) !== 0) break
  }
  const expected = hash.digest()
  if (!expected.equals(await source.take(CHECKSUM_BYTES))) throw damaged(file)
  await source.end()
}

/** Reads exact numbers of bytes from a stream. */
class Reader {
  readonly #chunks: AsyncIterator<Buffer>
  readonly #file: string
  #pending = Buffer.alloc(0)

  constructor(stream: AsyncIterable<Buffer>, file: string) {
    this.#chunks = stream[Symbol.asyncIterator]()
    this.#file = file
  }

  async take(bytes: number): Promise<Buffer> {
    while (this.#pending.length < bytes) {
      const { value, done } = await this.#chunks.next()
      if (done) throw damaged(this.#file)
      this.#pending = Buffer.concat([this.#pending, value])
    }
    const taken = this.#pending.subarray(0, bytes)
    this.#pending = this.#pending.subarray(bytes)
    return taken
  }

  /** Requires the end of the stream. */
  async end(): Promise<void> {
    const { done } = await this.#chunks.next()
    if (this.#pending.length > 0 || !done) throw damaged(this.#file)
  }
}

const damaged = (file: string, cause?: unknown) =>
  new StartError(`${file} is damaged or was changed. Nothing was restored.`, { cause })

const derive = promisify<string, string, number, { N: number; maxmem: number }, Buffer>(scrypt)

function keyOf(passphrase: string, { salt, cost }: NonNullable<Head['scrypt']>): Promise<Buffer> {
  return derive(passphrase, salt, 32, { N: cost, maxmem: 256 * 1024 * 1024 })
}

async function sealing(first: string, head: Head, passphrase: string | null): Promise<Seal> {
  if (passphrase === null || head.scrypt === null) return (frame) => frame
  const key = await keyOf(passphrase, head.scrypt)
  return (frame, number, isLast) => {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number)).setAAD(bound(first, isLast))
    return Buffer.concat([cipher.update(frame), cipher.final(), cipher.getAuthTag()])
  }
}

async function unsealing(file: string, first: string, head: Head, passphrase: string | null): Promise<Seal> {
  if (passphrase === null || head.scrypt === null) return (frame) => frame
  const key = await keyOf(passphrase, head.scrypt)
  return (frame, number, isLast) => {
    if (frame.length < TAG_BYTES) throw damaged(file)
    const content = frame.subarray(0, -TAG_BYTES)
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number), { authTagLength: TAG_BYTES })
    decipher.setAAD(bound(first, isLast)).setAuthTag(frame.subarray(-TAG_BYTES))
    try {
      return Buffer.concat([decipher.update(content), decipher.final()])
    } catch {
      if (number === 0) throw new StartError(`The passphrase of ${file} is wrong, or the file is damaged.`)
      throw damaged(file)
    }
  }
}

function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32BE(number, 8)
  return nonce
}

const bound = (first: string, isLast: boolean) => Buffer.from(`${isLast ? 'last' : 'more'} ${first}`)
