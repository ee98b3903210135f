import { z } from 'zod'
import { described } from '../../core/described.ts'
import { trimmedText } from '../../core/validation.ts'
import { oneLine } from '../result/probe-result.ts'
import { type Conversation, ConversationError } from './conversation.ts'
import { passwordText, serverOptions, serverProbe, tlsOptions } from './server-probe.ts'

const command = trimmedText(500).refine(
  (text) => wordsOf(text) !== null,
  'must be words separated by spaces, with quotes around words that contain spaces',
)

const options = z.strictObject({
  ...serverOptions(6379),
  ...tlsOptions,
  username: described(z.string().max(200).optional(), {
    label: 'User',
    description: 'The user to sign in as. Default: the server’s own.',
    isRare: true,
  }),
  password: passwordText(1000),
  /** The words of the command, separated by spaces. A word in quotes may contain spaces. */
  command: described(command.optional(), {
    label: 'Command',
    description: 'The command that must succeed, such as LLEN "my queue". Its reply is ignored. Default: PING.',
    hint: 'It must succeed; its reply is ignored. For example, LLEN "my queue". Empty: PING.',
    isRare: true,
  }),
})

/** Signs in if there is a password, and sends a command. The default PING fails while a server is still loading. */
export const redis = serverProbe({
  kind: 'REDIS',
  options,
  words: {
    name: 'Redis',
    about: 'Sends PING or another command to a Redis or Valkey server.',
  },
  async talk(server, { username, password, command: given }) {
    if (password !== undefined) {
      await send(server, ['AUTH', ...(username === undefined ? [] : [username]), password])
    }
    return send(server, (given && wordsOf(given)) || ['PING'])
  },
})

/** Splits a command into words; null: it is empty, or a quote is not closed. */
function wordsOf(text: string): string[] | null {
  if (!/^(?:"[^"]*"|[^\s"]+)(?:\s+(?:"[^"]*"|[^\s"]+))*$/.test(text)) return null
  return [...text.matchAll(/"([^"]*)"|[^\s"]+/g)].map(([word, inQuotes]) => inQuotes ?? word)
}

/**
 * Sends a command (RESP 2). Returns a summary of the first line of the reply.
 * @throws ConversationError for an error.
 */
async function send(server: Conversation, words: readonly string[]): Promise<string> {
  server.send([`*${words.length}`, ...words.flatMap((word) => [`$${Buffer.byteLength(word)}`, word]), ''].join('\r\n'))
  const line = (await server.until('\r\n')).trimEnd()
  if (line.startsWith('+')) return line.slice(1)
  if (line.startsWith('-')) throw new ConversationError(`The server refused: ${oneLine(line.slice(1), 200)}`)
  const [, type = '', digits = ''] = /^([:$*])(-?\d{1,19})$/.exec(line) ?? []
  if (type === ':') return digits
  if (type === '') throw new ConversationError('The server does not speak the protocol of Redis')
  if (digits.startsWith('-')) return 'Nothing'
  const unit = type === '$' ? 'byte' : 'item'
  return `${digits} ${digits === '1' ? unit : `${unit}s`}`
}
