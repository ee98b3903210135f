import { BSONError, deserialize, serialize } from 'bson'
import { z } from 'zod'
import { described } from '../../core/described.ts'
import { isJsonObject } from '../../core/json-object.ts'
import { trimmedText } from '../../core/validation.ts'
import { oneLine } from '../result/probe-result.ts'
import { type Conversation, ConversationError } from './conversation.ts'
import { startScram } from './scram.ts'
import { passwordText, serverOptions, serverProbe, tlsOptions } from './server-probe.ts'

const name = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(100)
  .regex(/^\P{Cc}*$/u, 'must not have control characters')

const command = trimmedText(2000).refine(
  (text) => commandOf(text) !== null,
  'must be a JSON object, such as {"ping": 1}, of at most 20 levels',
)

const options = z
  .strictObject({
    ...serverOptions(27_017),
    ...tlsOptions,
    user: described(name.optional(), {
      label: 'User',
      description: 'The user to sign in as, with a password. Default: does not sign in.',
    }),
    password: passwordText(200, 'The password to sign in with (SCRAM-SHA-256).'),
    authDatabase: described(name.default('admin'), {
      label: 'Database of the user',
      description: 'The database that defines the user.',
      isRare: true,
    }),
    database: described(name.default('admin'), {
      label: 'Database',
      description: 'The database in which the command runs.',
      isRare: true,
    }),
    command: described(command.optional(), {
      label: 'Command',
      description: 'The command that must succeed, as JSON. Its result is ignored. Default: {"ping": 1}.',
      hint: 'JSON such as {"count": "orders"}. It must succeed; its result is ignored. Empty: ping.',
      isRare: true,
    }),
  })
  .superRefine(({ user, password }, issues) => {
    if ((user === undefined) === (password === undefined)) return
    const path = [user === undefined ? 'user' : 'password']
    issues.addIssue({ code: 'custom', path, message: 'must be given: signing in needs a user and a password' })
  })

/**
 * Queries the role of a server, signs in if there is a user, and runs a command. Connects only to the given server, and
 * not to other members of its replica set.
 */
export const mongodb = serverProbe({
  kind: 'MONGODB',
  options,
  words: {
    name: 'MongoDB',
    about: 'Sends hello and ping to a MongoDB server. With a user, signs in. With a command, runs it instead of ping.',
  },
  // Texts in the command are sent without its escapes.
  sentTexts: ({ command, ...sent }) => ({ ...sent, command: command && commandOf(command) }),
  async talk(server, { user, password, authDatabase, database, command: given }) {
    const client = clientOf(server)
    const role = roleOf(await client({ hello: 1 }, 'admin'))
    if (user !== undefined && password !== undefined) await signIn(client, user, password, authDatabase)
    await client(commandOf(given ?? '') ?? { ping: 1 }, database)
    return role
  },
})

/** The members of a document. */
type Document = Readonly<Record<string, unknown>>

/**
 * Parses a command; null: the text is not a JSON object, is nested too deeply, or has a name that BSON cannot hold.
 */
function commandOf(text: string): Document | null {
  try {
    const value: unknown = JSON.parse(text)
    if (!isJsonObject(value) || Object.keys(value).length === 0 || !isShallow(value, 20)) return null
    serialize(value)
    return value
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof BSONError) return null
    throw error
  }
}

const isShallow = (value: unknown, levels: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1)))

/**
 * Signs in with SCRAM-SHA-256.
 * @throws ConversationError when the server refuses, or does not prove that it knows the password.
 */
async function signIn(client: Client, user: string, password: string, database: string): Promise<void> {
  const scram = startScram(user, password)
  const mechanism = 'SCRAM-SHA-256'
  const start = { saslStart: 1, mechanism, payload: Buffer.from(scram.first), options: { skipEmptyExchange: true } }
  const challenge = await client(start, database)
  const { conversationId: given } = challenge
  const conversationId = typeof given === 'number' ? given : 1
  const answer = await scram.answer(payloadOf(challenge))
  const final = await client({ saslContinue: 1, conversationId, payload: Buffer.from(answer) }, database)
  scram.verify(payloadOf(final))
}

function payloadOf(answer: Document): string {
  const payload = answer['payload']
  if (!Buffer.isBuffer(payload)) throw foreign()
  return payload.toString('utf8')
}

/** Sends a command to a database, and returns the answer. @throws ConversationError for an error. */
type Client = (command: Document, database: string) => Promise<Document>

/** Returns the role of a server. @throws ConversationError when it does not serve reads. */
function roleOf(hello: Document): string {
  const set = hello['setName']
  const ofSet = typeof set === 'string' ? ` of ${set}` : ''
  if (hello['msg'] === 'isdbgrid') return 'Router'
  if (hello['isWritablePrimary'] === true) return ofSet === '' ? 'Standalone server' : `Primary${ofSet}`
  if (hello['secondary'] === true) return `Secondary${ofSet}`
  if (hello['arbiterOnly'] === true) return `Arbiter${ofSet}`
  throw new ConversationError(oneLine(`The server is neither primary nor secondary${ofSet}`, 200))
}

const OP_MSG = 2013
const HEAD_BYTES = 16
/** The length of the flags and of the kind of the only section. */
const BODY_HEAD_BYTES = 5
const MAX_BODY_BYTES = 12 * 1024
/** The default `maxMessageSizeBytes` of servers. */
const MAX_MESSAGE_BYTES = 48_000_000

function clientOf(server: Conversation): Client {
  let id = 0
  return async (command, database) => {
    id += 1
    server.send(message(serialize({ ...command, $db: database }), id))
    const head = await server.bytes(HEAD_BYTES)
    const length = head.readInt32LE(0) - HEAD_BYTES
    const isAnswer = head.readInt32LE(8) === id && head.readInt32LE(12) === OP_MSG
    if (!isAnswer || length < BODY_HEAD_BYTES || length > MAX_MESSAGE_BYTES) throw foreign()
    if (length > MAX_BODY_BYTES)
      throw new ConversationError(`The server answered with more than ${MAX_BODY_BYTES / 1024} KiB`)
    const body = await server.bytes(length)
    // The request asked for neither a checksum nor more messages.
    if (body.readUInt32LE(0) !== 0 || body[4] !== 0) throw foreign()
    const answer = documentIn(body.subarray(BODY_HEAD_BYTES))
    if (answer['ok'] === 1) return answer
    const reason = typeof answer['errmsg'] === 'string' ? answer['errmsg'] : String(Object.keys(command)[0])
    throw new ConversationError(`The server refused: ${oneLine(reason, 200)}`)
  }
}

/** Decodes a document. Texts need not be valid UTF-8. @throws ConversationError when it is invalid. */
function documentIn(bytes: Buffer): Document {
  try {
    return deserialize(bytes, { promoteBuffers: true, validation: { utf8: false } })
  } catch (error) {
    if (error instanceof BSONError) throw foreign()
    throw error
  }
}

function message(document: Uint8Array, id: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES + BODY_HEAD_BYTES)
  head.writeInt32LE(head.length + document.length, 0)
  head.writeInt32LE(id, 4)
  head.writeInt32LE(OP_MSG, 12)
  return Buffer.concat([head, document])
}

const foreign = () => new ConversationError('The server does not speak the protocol of MongoDB')
