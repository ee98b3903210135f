import { constants, createHash, publicEncrypt } from 'node:crypto'
import { z } from 'zod'
import { oneLine } from '../probe-result.ts'
import { type Conversation, Trouble } from './conversation.ts'
import { serverOptions, serverProbe, serverWords } from './server-probe.ts'

/** The largest packet that is read, in bytes. */
const MAX_PACKET = 16_000

/** Long passwords, the protocol since 4.1, answers with their length, authentication by plugins; and a database. */
const CAPABILITIES = 0x1 | 0x200 | 0x8000 | 0x80000
const WITH_DATABASE = 0x8

/** The codes that refuse a user, not a connection: the server works. */
const DENIED = new Set([1044, 1045, 1698])

const FOREIGN = 'The server does not speak the protocol of MySQL'

const user = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]{1,80}$/, 'must have 1 to 80 characters without spaces')

const text = (length: number) => z.string().trim().min(1, 'must not be empty').max(length)

const options = z.strictObject({
  ...serverOptions(3306),
  user: user.default('allclear'),
  /** A secret. */
  password: z.string().max(200).optional(),
  database: text(64)
    .regex(/^\P{Cc}+$/u, 'must not have control characters')
    .optional(),
  query: text(2000).optional(),
})

type Options = z.output<typeof options>

/**
 * Greets a server (protocol version 10), and signs in where a password, a database or a query is given. Without one, a refusal of
 * the user counts as an answer: a connection that ended before that would count against `max_connect_errors`, and block this host
 * after a hundred probes.
 */
export const mysql = serverProbe({
  kind: 'MYSQL',
  options,
  words: {
    name: 'MySQL, MariaDB',
    about: 'Greets a MySQL or MariaDB server; with a password or a query, signs in and runs it.',
    options: {
      ...serverWords,
      user: {
        label: 'User',
        description: 'Whose name it gives; without a password, a database and a query, it need not exist.',
        hint: 'Need not exist without a password and a query.',
      },
      password: {
        label: 'Password',
        description: 'The password to sign in with. Default: it greets the server, and does not sign in.',
      },
      database: { label: 'Database', description: 'The database to use. Default: none.', isRare: true },
      query: {
        label: 'Query',
        description: 'The query that must succeed; what it returns does not matter. Default: none.',
        hint: 'Must succeed; what it returns does not matter. Empty: none.',
        isRare: true,
      },
    },
  },
  secrets: [['password']],
  async talk(server, given) {
    const greeting = readGreeting(await packet(server))
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

/** @throws Trouble with `tooLong` when it is longer than what is read. */
async function packet(server: Conversation, tooLong = FOREIGN): Promise<Packet> {
  const head = await server.bytes(4)
  const length = head.readUIntLE(0, 3)
  if (length < 1) throw new Trouble(FOREIGN)
  if (length > MAX_PACKET) throw new Trouble(tooLong)
  return { data: await server.bytes(length), number: head.readUInt8(3) }
}

const isError = ({ data }: Packet) => data[0] === 0xff && data.length >= 3
const isEnd = ({ data }: Packet) => data[0] === 0xfe && data.length < 9

const refusal = ({ data }: Packet) =>
  new Trouble(`The server refuses: ${oneLine(data.toString('utf8', 3).replace(/^#[A-Z0-9]{5}/, ''), 200)}`)

interface Greeting {
  readonly version: string
  /** What a password is mixed with, and how. */
  readonly nonce: Buffer
  readonly plugin: string
  readonly number: number
}

/** @throws Trouble when it is an error, or none of protocol version 10. */
function readGreeting(greeting: Packet): Greeting {
  const { data, number } = greeting
  if (isError(greeting)) throw refusal(greeting)
  const end = data.indexOf(0, 1)
  if (data[0] !== 10 || end < 2 || number > 9) throw new Trouble(FOREIGN)
  // MariaDB before 11 says that it is an old MySQL first.
  const version = `Version ${data.toString('latin1', 1, end).replace(/^5\.5\.5-/, '')}`
  // A thread's number, eight bytes of the nonce, thirteen of capabilities, ten reserved; the rest of the nonce, a zero, the plugin.
  const [first, rest] = [end + 5, end + 32]
  const nonce = Buffer.concat([data.subarray(first, first + 8), data.subarray(rest, rest + 12)])
  const plugin = data.toString('latin1', rest + 13).replace(/\0.*$/s, '')
  return { version, nonce, plugin: plugin || 'mysql_native_password', number }
}

/** Signs in, and returns what the server says in the end: that it let the user in, or an error. */
async function signIn(server: Conversation, given: Options, greeting: Greeting): Promise<Packet> {
  const { password = '' } = given
  let { nonce, plugin } = greeting
  server.send(framed(response(given, plugin, proofOf(plugin, password, nonce)), greeting.number + 1))
  // Another plugin, a part of one, a key: no server needs more.
  for (let turn = 0; turn < 5; turn++) {
    const answer = await packet(server)
    const { data, number } = answer
    const reply = (bytes: Buffer) => server.send(framed(bytes, number + 1))
    if (data[0] === 0xfe && data.length > 1) {
      const end = data.indexOf(0, 1)
      plugin = data.toString('latin1', 1, end)
      nonce = data.subarray(end + 1, end + 21)
      reply(proofOf(plugin, password, nonce))
    } else if (data[0] === 0xfe) reply(Buffer.alloc(0))
    else if (data[0] === 0x01 && data[1] === 0x04) reply(Buffer.from([0x02]))
    else if (data[0] === 0x01 && data.length > 2) reply(encrypted(password, nonce, data.subarray(1)))
    else if (data[0] !== 0x01) return answer
  }
  throw new Trouble(FOREIGN)
}

const sha = (algorithm: 'sha1' | 'sha256', ...parts: readonly Buffer[]) => {
  const hash = createHash(algorithm)
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const xor = (one: Buffer, other: Buffer) =>
  Buffer.from(one.map((byte, index) => byte ^ (other[index % other.length] ?? 0)))

/** Returns the proof that the user has the password (MySQL’s manual, “Authentication methods”). @throws Trouble for other plugins. */
function proofOf(plugin: string, password: string, nonce: Buffer): Buffer {
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
  throw new Trouble(`The server asks for a sign-in that is not known: ${oneLine(plugin, 50)}`)
}

/** Encrypts a password for a server that does not know its hash yet. @throws Trouble when it sends no key. */
function encrypted(password: string, nonce: Buffer, key: Buffer): Buffer {
  try {
    const padded = xor(Buffer.from(`${password}\0`), nonce)
    return publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING }, padded)
  } catch {
    throw new Trouble(FOREIGN)
  }
}

function response({ user: name, database }: Options, plugin: string, proof: Buffer): Buffer {
  const head = Buffer.alloc(32)
  head.writeUInt32LE(CAPABILITIES | (database === undefined ? 0 : WITH_DATABASE), 0)
  head.writeUInt32LE(MAX_PACKET, 4)
  head.writeUInt8(45, 8)
  const named = database === undefined ? '' : `${database}\0`
  return Buffer.concat([
    head,
    Buffer.from(`${name}\0`),
    Buffer.from([proof.length]),
    proof,
    Buffer.from(`${named}${plugin}\0`),
  ])
}

/** Runs a query, and returns how many rows it gives. @throws Trouble when it fails, or gives too much at once. */
async function countRows(server: Conversation, query: string): Promise<number> {
  server.send(framed(Buffer.concat([Buffer.from([0x03]), Buffer.from(query)]), 0))
  const next = async () => {
    const part = await packet(server, `The server sends more than ${MAX_PACKET} bytes a row`)
    if (isError(part)) throw refusal(part)
    return part
  }
  const first = await next()
  // Done without rows.
  if (first.data[0] === 0x00) return 0
  // It asks for a file of this machine.
  if (first.data[0] === 0xfb) throw new Trouble(FOREIGN)
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
