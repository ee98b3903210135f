import { z } from 'zod'
import { oneLine } from '../result/probe-result.ts'
import { ConversationError } from './conversation.ts'
import { serverOptions, serverProbe } from './server-probe.ts'

/** The maximum number of lines before the identification (RFC 4253 §4.2). */
const MAX_LINES = 20

/** Waits for the identification of a server. Does not sign in. */
export const ssh = serverProbe({
  kind: 'SSH',
  options: z.strictObject(serverOptions(22)),
  portUse: () => 'connection',
  words: { name: 'SSH', about: 'Waits for the identification of an SSH server.' },
  async talk(server) {
    for (let line = 0; line < MAX_LINES; line++) {
      const text = (await server.until('\n')).trimEnd()
      if (/^SSH-(?:2\.0|1\.99)-/.test(text)) return text
      if (text.startsWith('SSH-')) throw new ConversationError(`The server speaks an old version: ${oneLine(text, 80)}`)
    }
    throw new ConversationError('The server does not speak SSH')
  },
})
