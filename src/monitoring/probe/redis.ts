import { z } from 'zod'
import { oneLine } from '../probe-result.ts'
import { type Conversation, Trouble } from './conversation.ts'
import { serverOptions, serverProbe, serverWords, tlsOptions, tlsWords } from './server-probe.ts'

const options = z.strictObject({
  ...serverOptions(6379),
  ...tlsOptions,
  username: z.string().max(200).optional(),
  /** A secret. */
  password: z.string().max(1000).optional(),
})

/** Signs in if there is a password, and asks for PING: a server that is still loading refuses. */
export const redis = serverProbe({
  kind: 'REDIS',
  options,
  words: {
    name: 'Redis',
    about: 'Sends PING to a Redis or Valkey server.',
    options: {
      ...serverWords,
      ...tlsWords,
      username: { label: 'User', description: 'The user to sign in as. Default: the server’s own.', isRare: true },
      password: { label: 'Password', description: 'The password to sign in with.' },
    },
  },
  secrets: [['password']],
  async talk(server, { username, password }) {
    if (password !== undefined) {
      await command(server, ['AUTH', ...(username === undefined ? [] : [username]), password])
    }
    return command(server, ['PING'])
  },
})

/** Sends a command (RESP 2), and returns the line that answers it. @throws Trouble when it is an error. */
async function command(server: Conversation, words: readonly string[]): Promise<string> {
  server.send([`*${words.length}`, ...words.flatMap((word) => [`$${Buffer.byteLength(word)}`, word]), ''].join('\r\n'))
  const line = (await server.until('\r\n')).trimEnd()
  if (line.startsWith('+')) return line.slice(1)
  if (line.startsWith('-')) throw new Trouble(`The server refuses: ${oneLine(line.slice(1), 200)}`)
  throw new Trouble('The server does not speak the protocol of Redis')
}
