import { constants, createHash, publicEncrypt } from 'node:crypto'
import { z } from 'zod'
import { described } from '../../core/described.ts'
import { oneLine } from '../result/probe-result.ts'
import { type Conversation, ConversationError } from './conversation.ts'
import { passwordText, serverOptions, serverProbe, tlsOptions } from './server-probe.ts'

/** The maximum size of a packet, in bytes. */
const MAX_PACKET = 16_000

/**
 * Capability flags: long passwords, the protocol of version 4.1, length-prefixed replies and authentication plugins.
 */
const CAPABILITIES = 0x1 | 0x200 | 0x8000 | 0x80000
const WITH_DATABASE = 0x8
const WITH_TLS = 0x800

/** The error codes with which a working server refuses a user. */
const DENIED = new Set([1044, 1045, 1698])

const FOREIGN = 'The server does not speak the protocol of MySQL'

const user = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]{1,80}$/, 'must have 1 to 80 characters without spaces')

const text = (length: number) => z.string().trim().min(1, 'must not be empty').max(length)

const database = text(64).regex(/^\P{Cc}+$/u, 'must not have control characters')

const options = z.strictObject({
  ...serverOptions(3306),
  ...tlsOptions,
  user: described(user.default('allclear'), {
    label: 'User',
    description: 'The user, which need not exist unless a password, database or query is given.',
    hint: 'Need not exist without a password, database or query.',
  }),
  password: passwordText(200, 'The password to sign in with. Default: does not sign in.'),
  database: described(database.optional(), {
    label: 'Database',
    description: 'The database to use. Default: none.',
    isRare: true,
  }),
  query: described(text(2000).optional(), {
    label: 'Query',
    description: 'The query that must succeed. Its result is ignored. Default: none.',
    hint: 'It must succeed; its result is ignored. Empty: none.',
    isRare: true,
  }),
})

type Options = z.output<typeof options>

/**
 * Completes the handshake with a server (protocol version 10). Signs in if a password, database or query is given.
 * Otherwise it counts as success if the server refuses the user: a connection that ends earlier would count towards
 * `max_connect_errors`, and the server would block this host after a hundred probes.
 */
export const mysql = serverProbe({
  kind: 'MYSQL',
  options,
  words: {
    name: 'MySQL, MariaDB',
    about: 'Connects to a MySQL or MariaDB server. With a password or query, signs in and runs the query.',
  },
  sentTexts: ({ query, ...sent }) => sent,
  async beforeTls(server) {
    const greeting = readGreeting(await packet(server))
    if (!greeting.offersTls) throw new ConversationError('The server does not offer TLS')
    server.send(framed(handshakeHead(WITH_TLS), greeting.number + 1))
    return { ...greeting, number: greeting.number + 1, isSecure: true }
  },
  async talk(server, given, greeted) {
    const greeting = greeted ?? readGreeting(await packet(server))
    const { version } = greeting
    const answer = await signIn(server, given, greeting)
    if (isError(answer) && (mustSignIn(given) || !DENIED.has(answer.data.readUInt16LE(1)))) throw refusal(answer)
    if (isError(answer)) return version
    const rows = given.query === undefined ? null : await countRows(server, given.query)
    server.send(framed(Buffer.from([0x01]), 0))
    return rows === null ? version : `${version}: ${rows === 1 ? '1 row' : `${rows} rows`}`
  },
})

const mustSignIn = ({ password, database, query }: Options) =>
  [password, database, query].some((each) => each !== undefined)

interface Packet {
  readonly data: Buffer
  readonly number: number
}

/** Reads a packet. @throws ConversationError with the message `tooLong` when it is too long. */
async function packet(server: Conversation, tooLong = FOREIGN): Promise<Packet> {
  const head = await server.bytes(4)
  const length = head.readUIntLE(0, 3)
  if (length < 1) throw new ConversationError(FOREIGN)
  if (length > MAX_PACKET) throw new ConversationError(tooLong)
  return { data: await server.bytes(length), number: head.readUInt8(3) }
}

const isError = ({ data }: Packet) => data[0] === 0xff && data.length >= 3
const isEnd = ({ data }: Packet) => data[0] === 0xfe && data.length < 9

const refusal = ({ data }: Packet) =>
  new ConversationError(`The server refused: ${oneLine(data.toString('utf8', 3).replace(/^#[A-Z0-9]{5}/, ''), 200)}`)

interface Greeting {
  readonly version: string
  /** The nonce and the plugin for proving the password. */
  readonly nonce: Buffer
  readonly plugin: string
  readonly number: number
  readonly offersTls: boolean
  /** Whether the connection uses TLS. */
  readonly isSecure: boolean
}

/** Decodes a greeting. @throws ConversationError for an error, and for a protocol version other than 10. */
function readGreeting(greeting: Packet): Greeting {
  const { data, number } = greeting
  if (isError(greeting)) throw refusal(greeting)
  const end = data.indexOf(0, 1)
  if (data[0] !== 10 || end < 2 || number > 9) throw new ConversationError(FOREIGN)
  // MariaDB before 11 prefixes its version with that of an old MySQL.
  const version = `Version ${data.toString('latin1', 1, end).replace(/^5\.5\.5-/, '')}`
  // The thread id, 8 bytes of the nonce, 13 of capabilities, 10 reserved, the rest of the nonce, a zero, and the
  // plugin.
  const [first, rest] = [end + 5, end + 32]
  const nonce = Buffer.concat([data.subarray(first, first + 8), data.subarray(rest, rest + 12)])
  const plugin = data.toString('latin1', rest + 13).replace(/\0.*/s, '')
  const offersTls = data.length >= rest && (data.readUInt16LE(first + 9) & WITH_TLS) !== 0
  return { version, nonce, plugin: plugin || 'mysql_native_password', number, offersTls, isSecure: false }
}

/** Signs in. Returns the last packet of the server: success or an error. */
async function signIn(server: Conversation, given: Options, greeting: Greeting): Promise<Packet> {
  const { password = '' } = given
  const { isSecure } = greeting
  let { nonce, plugin } = greeting
  const proof = () => proofOf(plugin, password, nonce, isSecure)
  server.send(framed(response(given, plugin, proof(), isSecure), greeting.number + 1))
  // No server needs more turns to switch plugins, to continue with one, or to send a key.
  for (let turn = 0; turn < 5; turn++) {
    const answer = await packet(server)
    const { data, number } = answer
    if (data[0] === 0xfe && data.length > 1) {
      const end = data.indexOf(0, 1)
      plugin = data.toString('latin1', 1, end)
      nonce = data.subarray(end + 1, end + 21)
      server.send(framed(proof(), number + 1))
      continue
    }
    if (data[0] !== 0xfe && data[0] !== 0x01) return answer
    const reply = replyTo(data, password, nonce, isSecure)
    if (reply !== null) server.send(framed(reply, number + 1))
  }
  throw new ConversationError(FOREIGN)
}

/** Returns the reply to a request during sign-in; null: there is none. */
function replyTo(data: Buffer, password: string, nonce: Buffer, isSecure: boolean): Buffer | null {
  if (data[0] === 0xfe) return Buffer.alloc(0)
  if (data[1] === FULL_SIGN_IN) return isSecure ? plainText(password) : Buffer.from([ASK_FOR_KEY])
  return data.length > 2 ? encrypted(password, nonce, data.subarray(1)) : null
}

/**
 * Codes of caching_sha2_password: the full sign-in without a cached hash, and the request for the server's public key.
 */
const [FULL_SIGN_IN, ASK_FOR_KEY] = [0x04, 0x02]

const sha = (algorithm: 'sha1' | 'sha256', ...parts: readonly Buffer[]) => {
  const hash = createHash(algorithm)
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const xor = (one: Buffer, other: Buffer) =>
  Buffer.from(one.map((byte, index) => byte ^ (other[index % other.length] ?? 0)))

const plainText = (password: string) => Buffer.from(`${password}\0`)

/** The plugins that send the plain password, which is only done over TLS. */
const plainPlugins = new Set(['mysql_clear_password', 'sha256_password'])

/**
 * Returns the proof of the password (MySQL’s manual, “Authentication methods”).
 * @throws ConversationError for unknown plugins.
 */
function proofOf(plugin: string, password: string, nonce: Buffer, isSecure: boolean): Buffer {
  if (password === '') return Buffer.alloc(0)
  const secret = Buffer.from(password)
  if (plugin === 'mysql_native_password') {
    const once = sha('sha1', secret)
    return xor(once, sha('sha1', nonce, sha('sha1', once)))
  }
  if (plugin === 'caching_sha2_password') {
    const once = sha('sha256', secret)
    return xor(once, sha('sha256', sha('sha256', once), nonce))
  }
  if (isSecure && plainPlugins.has(plugin)) return plainText(password)
  const hint = plainPlugins.has(plugin) ? ', which needs TLS' : ''
  throw new ConversationError(`The server requires a sign-in that is not supported: ${oneLine(plugin, 50)}${hint}`)
}

/** Encrypts a password for a server that has not cached its hash. @throws ConversationError when the key is invalid. */
function encrypted(password: string, nonce: Buffer, key: Buffer): Buffer {
  try {
    const padded = xor(Buffer.from(`${password}\0`), nonce)
    return publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING }, padded)
  } catch {
    throw new ConversationError(FOREIGN)
  }
}

/** Returns the head of the response to the greeting. Alone it is the request for TLS. */
function handshakeHead(more: number): Buffer {
  const head = Buffer.alloc(32)
  head.writeUInt32LE(CAPABILITIES | more, 0)
  head.writeUInt32LE(MAX_PACKET, 4)
  head.writeUInt8(45, 8)
  return head
}

function response({ user: name, database }: Options, plugin: string, proof: Buffer, isSecure: boolean): Buffer {
  const head = handshakeHead((database === undefined ? 0 : WITH_DATABASE) | (isSecure ? WITH_TLS : 0))
  const named = database === undefined ? '' : `${database}\0`
  return Buffer.concat([
    head,
    Buffer.from(`${name}\0`),
    Buffer.from([proof.length]),
    proof,
    Buffer.from(`${named}${plugin}\0`),
  ])
}

/** Runs a query, and returns the number of rows. @throws ConversationError when it fails, or a row is too long. */
async function countRows(server: Conversation, query: string): Promise<number> {
  server.send(framed(Buffer.concat([Buffer.from([0x03]), Buffer.from(query)]), 0))
  const next = async () => {
    const part = await packet(server, `The server sent a row of more than ${MAX_PACKET} bytes`)
    if (isError(part)) throw refusal(part)
    return part
  }
  const first = await next()
  // The query succeeded without rows.
  if (first.data[0] === 0x00) return 0
  // The server requests a file from this machine (LOAD DATA LOCAL).
  if (first.data[0] === 0xfb) throw new ConversationError(FOREIGN)
  while (!isEnd(await next()));
  let rows = 0
  while (!isEnd(await next())) rows += 1
  return rows
}

function framed(data: Buffer, number: number): Buffer {
  const head = Buffer.alloc(4)
  head.writeUIntLE(data.length, 0, 3)
  head.writeUInt8(number, 3)
  return Buffer.concat([head, data])
}
