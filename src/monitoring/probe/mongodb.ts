import { z } from 'zod'
import { oneLine } from '../probe-result.ts'
import { type Conversation, Trouble } from './conversation.ts'
import { serverOptions, serverProbe, serverWords, tlsOptions, tlsWords } from './server-probe.ts'

const options = z.strictObject({ ...serverOptions(27_017), ...tlsOptions })

/**
 * Asks a server who it is, and for an answer: both without signing in. It speaks to the server it is given, and never looks for the
 * other members of a replica set.
 */
export const mongodb = serverProbe({
  kind: 'MONGODB',
  options,
  words: {
    name: 'MongoDB',
    about: 'Sends hello and ping to a MongoDB server.',
    options: { ...serverWords, ...tlsWords },
  },
  async talk(server) {
    const role = roleOf(await command(server, 'hello', 1))
    await command(server, 'ping', 2)
    return role
  },
})

/** What is read of an answer: its numbers, booleans and texts. */
type Answer = ReadonlyMap<string, number | boolean | string>

/** Returns what a server says it is. @throws Trouble when it serves no reads. */
function roleOf(hello: Answer): string {
  const set = hello.get('setName')
  const ofSet = typeof set === 'string' ? ` of ${set}` : ''
  if (hello.get('msg') === 'isdbgrid') return 'Router'
  if (hello.get('isWritablePrimary') === true) return ofSet === '' ? 'Standalone server' : `Primary${ofSet}`
  if (hello.get('secondary') === true) return `Secondary${ofSet}`
  if (hello.get('arbiterOnly') === true) return `Arbiter${ofSet}`
  throw new Trouble(oneLine(`The server is neither primary nor secondary${ofSet}`, 200))
}

const OP_MSG = 2013
const HEAD_BYTES = 16
/** The flags, and the kind of the only section. */
const BODY_HEAD_BYTES = 5
/** The end of a document. */
const END = 0
const MAX_BODY_BYTES = 12 * 1024

/** Sends a command to the database `admin`, and returns what answers it. @throws Trouble when it is an error. */
async function command(server: Conversation, name: string, id: number): Promise<Answer> {
  server.send(message(commandDocument(name), id))
  const head = await server.bytes(HEAD_BYTES)
  const length = head.readInt32LE(0) - HEAD_BYTES
  const isAnswer = head.readInt32LE(8) === id && head.readInt32LE(12) === OP_MSG
  if (!isAnswer || length < BODY_HEAD_BYTES || length > MAX_BODY_BYTES) throw foreign()
  const body = await server.bytes(length)
  // Neither a checksum nor more messages were asked for.
  if (body.readUInt32LE(0) !== 0 || body[4] !== 0) throw foreign()
  const answer = readDocument(body.subarray(BODY_HEAD_BYTES))
  if (answer.get('ok') === 1) return answer
  throw new Trouble(`The server refuses: ${oneLine(String(answer.get('errmsg') ?? name), 200)}`)
}

function message(document: Buffer, id: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES + BODY_HEAD_BYTES)
  head.writeInt32LE(head.length + document.length, 0)
  head.writeInt32LE(id, 4)
  head.writeInt32LE(OP_MSG, 12)
  return Buffer.concat([head, document])
}

/** Returns `{ [name]: 1, $db: 'admin' }` in BSON. */
function commandDocument(name: string): Buffer {
  const elements = Buffer.concat([
    Buffer.from(`\x10${name}\0\x01\0\0\0`),
    Buffer.from('\x02$db\0\x06\0\0\0admin\0'),
    Buffer.from([END]),
  ])
  const length = Buffer.alloc(4)
  length.writeInt32LE(length.length + elements.length)
  return Buffer.concat([length, elements])
}

/** Reads the elements of a document (BSON 1.1), and of those in it nothing. @throws Trouble. */
function readDocument(document: Buffer): Answer {
  const answer = new Map<string, number | boolean | string>()
  try {
    if (document.readInt32LE(0) !== document.length) throw foreign()
    let at = 4
    for (let type = document.readUInt8(at); type !== END; type = document.readUInt8(at)) {
      const end = document.indexOf(0, at + 1)
      if (end === -1) throw foreign()
      const value = end + 1
      const read = readValue(document, type, value)
      if (read !== null) answer.set(document.toString('utf8', at + 1, end), read)
      at = value + sizeOf(document, type, value)
    }
    return answer
  } catch (error) {
    // It ends before its elements do.
    throw error instanceof RangeError ? foreign() : error
  }
}

function readValue(document: Buffer, type: number, at: number): number | boolean | string | null {
  if (type === 0x01) return document.readDoubleLE(at)
  if (type === 0x02) return document.toString('utf8', at + 4, at + sizeOf(document, type, at) - 1)
  if (type === 0x08) return document.readUInt8(at) === 1
  return type === 0x10 ? document.readInt32LE(at) : null
}

/** How many bytes the values of a type have that all have the same: an id, a boolean, a date, null, and numbers. */
const sizes: ReadonlyMap<number, number> = new Map([
  ...([0x01, 0x09, 0x11, 0x12] as const).map((type) => [type, 8] as const),
  [0x07, 12],
  [0x08, 1],
  [0x0a, 0],
  [0x10, 4],
  [0x13, 16],
])

/** Returns how many bytes a value has. @throws Trouble for a type that no answer has. */
function sizeOf(document: Buffer, type: number, at: number): number {
  const size = sizes.get(type)
  if (size !== undefined) return size
  const length = document.readInt32LE(at)
  const rest = document.length - at
  // A text, and bytes with their kind, count what follows their length; documents and lists count their length too.
  const counted = new Map([
    [0x02, 4 + length],
    [0x03, length],
    [0x04, length],
    [0x05, 5 + length],
  ]).get(type)
  if (counted === undefined || counted < 5 || counted > rest) throw foreign()
  return counted
}

const foreign = () => new Trouble('The server does not speak the protocol of MongoDB')
