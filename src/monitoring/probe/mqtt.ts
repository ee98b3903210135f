import { z } from 'zod'
import { Trouble } from './conversation.ts'
import { serverOptions, serverProbe, serverWords, tlsOptions, tlsWords } from './server-probe.ts'

const options = z.strictObject({
  ...serverOptions(1883),
  ...tlsOptions,
  username: z.string().max(200).optional(),
  /** A secret. */
  password: z.string().max(1000).optional(),
})

/** What a broker answers to a connection that it refuses (MQTT 3.1.1 §3.2.2.3). */
const refusals = new Map([
  [1, 'it does not speak MQTT 3.1.1'],
  [2, 'the client is not accepted'],
  [3, 'the service is not available'],
  [4, 'the user or the password is wrong'],
  [5, 'the client is not authorized'],
])

/** Connects as a client (MQTT 3.1.1), and disconnects. */
export const mqtt = serverProbe({
  kind: 'MQTT',
  options: options.refine(({ username, password }) => password === undefined || username !== undefined, {
    path: ['username'],
    message: 'must be given with a password',
  }),
  words: {
    name: 'MQTT',
    about: 'Connects to an MQTT broker as a client.',
    options: {
      ...serverWords,
      ...tlsWords,
      username: { label: 'User', description: 'The user to sign in as.' },
      password: { label: 'Password', description: 'The password to sign in with.' },
    },
  },
  secrets: [['password']],
  async talk(server, { username, password }) {
    server.send(connectPacket(username, password))
    const [type, length, , code = 0] = await server.bytes(4)
    if (type !== 0x20 || length !== 2) throw new Trouble('The server does not speak MQTT')
    if (code !== 0) throw new Trouble(`The broker refuses: ${refusals.get(code) ?? `code ${code}`}`)
    server.send(Buffer.from([0xe0, 0]))
    return 'Connected'
  },
})

function connectPacket(username: string | undefined, password: string | undefined): Buffer {
  const flags = 0b10 | (username === undefined ? 0 : 0x80) | (password === undefined ? 0 : 0x40)
  const payload = ['', username, password].filter((text) => text !== undefined).map(prefixed)
  const rest = Buffer.concat([prefixed('MQTT'), Buffer.from([4, flags, 0, 30]), ...payload])
  return Buffer.concat([Buffer.from([0x10, ...remainingLength(rest.length)]), rest])
}

function prefixed(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes])
}

/** Seven bits a byte, the lowest first; the eighth says that more follow. */
function remainingLength(length: number): number[] {
  return length < 128 ? [length] : [(length & 127) | 128, ...remainingLength(length >> 7)]
}
