import type { Context } from '../core/context.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { parseUrl } from '../core/url.ts'
import type { AlertChannel } from '../generated/prisma/client.ts'
import type { AlertChannelKind } from '../generated/prisma/enums.ts'
import type { Answer } from '../network/outbound/outbound.ts'
import type { SendResult } from '../notification/channel/channel.ts'
import { sealedAddress } from './message.ts'
import type { AlertMessage, AlertTools } from './sender/sender.ts'
import { senders } from './senders.ts'

/** The outcome of sending, and the provider's response as one line without secrets, or null. */
export interface Sent {
  readonly result: SendResult
  readonly answer: string | null
}

/** How many characters of a response are kept. */
const MAX_ANSWER_LENGTH = 300

/**
 * Sends a message of an organization through the sender of its kind. Rejects only for malformed data, which is a bug.
 * @param owner the organization.
 */
export async function sendAlert(
  kind: AlertChannelKind,
  message: AlertMessage,
  tools: AlertTools,
  owner: string,
): Promise<Sent> {
  let last: Answer | null = null
  const outbound: AlertTools['outbound'] = {
    async request(request, limits) {
      const answer = await tools.outbound.request(request, { ...limits, owner })
      last = answer.kind === 'answer' ? answer : null
      return answer
    },
  }
  const result = await senders[kind].send(message, { ...tools, outbound })
  return { result, answer: last === null ? null : shownAnswer(last, secretsIn(message)) }
}

/** Stores the id that a Telegram chat has after it became a supergroup, unless the channel got another address meanwhile. */
export async function followMove(
  { db }: Pick<Context, 'db'>,
  seal: SecretBox,
  { id, address }: Pick<AlertChannel, 'id' | 'address'>,
  result: SendResult,
): Promise<void> {
  if (result.kind === 'postponed' || result.movedTo === undefined) return
  const { text, label } = result.movedTo
  const data: unknown = JSON.parse(seal.open(address, sealedAddress(id)))
  const moved = { ...Object(data), chatId: text.slice(text.indexOf('/') + 1) }
  await db.alertChannel.updateMany({
    where: { id, address },
    data: { address: seal.seal(JSON.stringify(moved), sealedAddress(id)), label },
  })
}

/** Returns a response as one line, without the secrets that it repeats, or null. */
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

/** Shorter texts of an address are ordinary words, not secrets. */
const MIN_SECRET_LENGTH = 6

/** Returns the texts of an address and the parts of its URLs, longest first. */
function secretsIn({ address, secrets }: Pick<AlertMessage, 'address' | 'secrets'>): string[] {
  const texts = Object.values(address as Readonly<Record<string, unknown>>).filter((each) => typeof each === 'string')
  const parts = texts.flatMap((text) => [text, ...(parseUrl(text)?.pathname.split('/') ?? [])])
  return [...parts, ...secrets].filter(({ length }) => length >= MIN_SECRET_LENGTH).sort((a, b) => b.length - a.length)
}
