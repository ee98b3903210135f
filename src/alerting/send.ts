import { parseUrl } from '../core/url.ts'
import type { AlertChannelKind } from '../generated/prisma/enums.ts'
import type { Answer } from '../network/outbound.ts'
import type { SendResult, SendTools } from '../notification/channel/channel.ts'
import type { AlertMessage } from './sender/sender.ts'
import { senders } from './senders.ts'

/** The outcome of sending, and what the provider answered, in one line without secrets; null: nothing. */
export interface Sent {
  readonly result: SendResult
  readonly answer: string | null
}

/** Characters shown of an answer. */
const MAX_ANSWER_LENGTH = 300

/** Sends a message by its kind, and keeps the provider's answer. Never rejects, but for malformed data, which is a bug. */
export async function sendAlert(kind: AlertChannelKind, message: AlertMessage, tools: SendTools): Promise<Sent> {
  let last: Answer | null = null
  const outbound: SendTools['outbound'] = {
    async request(request, limits) {
      const answer = await tools.outbound.request(request, limits)
      last = answer.kind === 'answer' ? answer : null
      return answer
    },
  }
  const result = await senders[kind].send(message, { ...tools, outbound })
  return { result, answer: last === null ? null : shownAnswer(last, secretsIn(message)) }
}

/** Returns the text of an answer in one line, without what it repeats of the secrets that were sent. */
export function shownAnswer(
  { body, headers }: Pick<Answer, 'body' | 'headers'>,
  secrets: readonly string[],
): string | null {
  if (/html/i.test(headers['content-type'] ?? '')) return null
  let text = body.toString('utf8')
  for (const secret of secrets) text = text.replaceAll(secret, '•••')
  text = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s\ufffd]+/gu, ' ')
    .trim()
    .slice(0, MAX_ANSWER_LENGTH)
  return text === '' ? null : text
}

/** The shortest text that counts as a secret: shorter ones are words. */
const MIN_SECRET_LENGTH = 6

/** Returns the texts of an address, and of its URLs the parts, longest first. */
function secretsIn({ address, secrets }: Pick<AlertMessage, 'address' | 'secrets'>): string[] {
  const texts = Object.values(address as Readonly<Record<string, unknown>>).filter((each) => typeof each === 'string')
  const parts = texts.flatMap((text) => [text, ...(parseUrl(text)?.pathname.split('/') ?? [])])
  return [...parts, ...secrets].filter(({ length }) => length >= MIN_SECRET_LENGTH).sort((a, b) => b.length - a.length)
}
