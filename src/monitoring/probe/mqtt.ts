import { z } from 'zod'
import { described } from '../../core/described.ts'
import { cappedText } from '../../core/validation.ts'
import { varint } from '../../core/varint.ts'
import { type Conversation, ConversationError } from './conversation.ts'
import { passwordText, serverOptions, serverProbe, tlsOptions } from './server-probe.ts'

/** A topic filter, in which + matches one level and # all further levels (MQTT 3.1.1 §4.7). */
const topicFilter = cappedText(200).refine(
  isTopicFilter,
  'must be a topic: + and # stand for whole levels, and # must be the last',
)

const options = z.strictObject({
  ...serverOptions(1883),
  ...tlsOptions,
  username: described(z.string().max(200).optional(), { label: 'User', description: 'The user to sign in as.' }),
  password: passwordText(1000),
  topic: described(topicFilter.optional(), {
    label: 'Topic',
    description:
      'The topic on which a message must arrive before the timeout. + matches one level, # all further levels. Default: none.',
    hint: 'A message must arrive before the timeout. A retained message arrives immediately. Empty: none.',
  }),
  expect: described(z.string().min(1, 'must not be empty').max(1000).optional(), {
    label: 'Expect',
    description: 'A text that a message on the topic must contain. Default: any message.',
    hint: 'A text that a message must contain. Empty: any message.',
  }),
})

function isTopicFilter(topic: string): boolean {
  const levels = topic.split('/')
  const isLast = (index: number) => index === levels.length - 1
  return (
    topic !== '' &&
    !topic.includes('\0') &&
    levels.every((level, index) => !/[+#]/.test(level) || level === '+' || (level === '#' && isLast(index)))
  )
}

const FOREIGN = 'The server does not speak MQTT'

/** The codes with which brokers refuse a connection (MQTT 3.1.1 §3.2.2.3). */
const refusals = new Map([
  [1, 'it does not speak MQTT 3.1.1'],
  [2, 'the client is not accepted'],
  [3, 'the service is not available'],
  [4, 'the user or the password is wrong'],
  [5, 'the client is not authorized'],
])

/** Connects as a client (MQTT 3.1.1), waits for a message if a topic is given, and disconnects. */
export const mqtt = serverProbe({
  kind: 'MQTT',
  options: options
    .refine(({ username, password }) => password === undefined || username !== undefined, {
      path: ['username'],
      message: 'must be given with a password',
    })
    .refine(({ topic, expect }) => expect === undefined || topic !== undefined, {
      path: ['topic'],
      message: 'must be given with an expected message',
    }),
  words: {
    name: 'MQTT',
    about: 'Connects to an MQTT broker as a client, and can wait for a message.',
  },
  sentTexts: ({ expect, ...sent }) => sent,
  async talk(server, { username, password, topic, expect = '' }) {
    server.send(connectPacket(username, password))
    const [type, length, , code = 0] = await server.bytes(4)
    if (type !== 0x20 || length !== 2) throw new ConversationError(FOREIGN)
    if (code !== 0) throw new ConversationError(`The broker refused: ${refusals.get(code) ?? `code ${code}`}`)
    if (topic !== undefined) await awaitMessage(server, topic, expect)
    server.send(Buffer.from([0xe0, 0]))
    return topic === undefined ? 'Connected' : 'Received a message'
  },
})

/** Subscribes to a topic and waits until a message contains a text. @throws ConversationError. */
async function awaitMessage(server: Conversation, topic: string, expected: string): Promise<void> {
  server.send(packetOf(0x82, Buffer.concat([Buffer.from([0, 1]), prefixed(topic), Buffer.from([0])])))
  let isSubscribed = false
  let received = 0
  for (;;) {
    const { type, payload } = await readPacket(server, received)
    if (type >> 4 === 9) {
      if ((payload[2] ?? 0x80) & 0x80) throw new ConversationError('The broker refused the subscription')
      isSubscribed = true
    } else if (type >> 4 === 3 && isSubscribed) {
      received += 1
      if (messageIn(payload).includes(expected)) return
    } else if (type >> 4 !== 3) throw new ConversationError(FOREIGN)
  }
}

/** Reads a packet (MQTT 3.1.1 §2.2). */
async function readPacket(server: Conversation, received: number): Promise<{ type: number; payload: Buffer }> {
  try {
    const type = (await server.bytes(1)).readUInt8(0)
    let length = 0
    for (let shift = 0; ; shift += 7) {
      const byte = (await server.bytes(1)).readUInt8(0)
      length += (byte & 127) << shift
      if (byte < 128) break
      if (shift === 21) throw new ConversationError(FOREIGN)
    }
    return { type, payload: await server.bytes(length) }
  } catch (error) {
    if (received === 0 || !(error instanceof ConversationError) || error.isAborted) throw error
    const messages = received === 1 ? 'a message' : `${received} messages`
    throw new ConversationError(`Received ${messages}, but not the expected one`)
  }
}

/** Returns the message in a PUBLISH packet with QoS 0. It follows the topic (MQTT 3.1.1 §3.3). */
function messageIn(payload: Buffer): Buffer {
  if (payload.length < 2) throw new ConversationError(FOREIGN)
  return payload.subarray(2 + payload.readUInt16BE(0))
}

function connectPacket(username: string | undefined, password: string | undefined): Buffer {
  const flags = 0b10 | (username === undefined ? 0 : 0x80) | (password === undefined ? 0 : 0x40)
  const payload = ['', username, password].filter((text) => text !== undefined).map(prefixed)
  return packetOf(0x10, Buffer.concat([prefixed('MQTT'), Buffer.from([4, flags, 0, 30]), ...payload]))
}

function packetOf(type: number, rest: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type, ...varint(rest.length)]), rest])
}

function prefixed(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes])
}
