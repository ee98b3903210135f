import { z } from 'zod'
import type { TextStyle } from '../../core/markdown/html-text.ts'
import { SECOND } from '../../core/time.ts'
import type { Answer } from '../../network/outbound/outbound.ts'
import type { NotificationContent } from '../content/content.ts'
import type { Address, Channel, SendResult, SendTools } from './channel.ts'
import { escapeHtml } from './mail-template.ts'
import { jsonOf, post } from './post.ts'
import { createTextWriter, writeFacts } from './text.ts'

const HOST = 'api.telegram.org'
/** The maximum length of a message without its markup (https://core.telegram.org/bots/api#sendmessage). */
const MAX_MESSAGE_LENGTH = 4096
/** The maximum length of a headline or a sentence, and of all facts, so that the message has room. */
const [MAX_LINE, MAX_FACTS] = [400, 1500]

/** The subscriber's own bot, and a chat that it can write to. */
const address = z
  .object({
    botToken: z
      .string()
      .trim()
      .regex(/^\d{5,20}:[\w-]{30,60}$/, 'must be a bot’s token, such as 123456:ABC-DEF…'),
    chatId: z
      .string()
      .trim()
      .regex(/^(-?\d{1,20}|@\w{5,32})$/, 'must be the id of a chat, or a channel’s @name'),
  })
  .transform(({ botToken, chatId }): Address => {
    const text = `${botToken}/${chatId}`
    return { text, label: `bot ${botToken.split(':', 1)[0]}, chat ${chatId}`, destination: HOST, target: text }
  })

/**
 * Telegram, through the subscriber's bot (https://core.telegram.org/bots/api#sendmessage). Errors have their reason in
 * JSON, and the seconds to wait in `parameters.retry_after`. A group that became a supergroup has another id, in
 * `parameters.migrate_to_chat_id`, to which the message is sent again. 401, 403 and 404: the bot was deleted or removed; 400: the
 * chat is unknown or the message is invalid.
 */
export const telegram: Channel = {
  name: 'Telegram',
  address,
  async send({ content, address: text, manageUrl }, tools) {
    const [botToken, chatId] = [text.slice(0, text.indexOf('/')), text.slice(text.indexOf('/') + 1)]
    const html = textOf(content, manageUrl)
    const { outcome, newChatId } = await sendTo({ botToken, chatId }, html, tools)
    if (newChatId === null) return outcome
    const movedTo = address.parse({ botToken, chatId: newChatId })
    const again = await sendTo({ botToken, chatId: newChatId }, html, tools)
    return again.outcome.kind === 'postponed' ? again.outcome : { ...again.outcome, movedTo }
  },
}

/** Sends a text to a chat. @returns also the id that the chat has now, if it became a supergroup; otherwise null. */
async function sendTo(
  { botToken, chatId }: { readonly botToken: string; readonly chatId: string },
  text: string,
  tools: SendTools,
): Promise<{ readonly outcome: SendResult; readonly newChatId: string | null }> {
  const message = { chat_id: chatId, text, parse_mode: 'HTML', link_preview_options: { is_disabled: true } }
  let found: z.infer<typeof parameters> = {}
  const request = { url: `https://${HOST}/bot${botToken}/sendMessage`, body: JSON.stringify(message) }
  const outcome = await post(request, tools, (answer) => {
    found = parameters.safeParse(jsonOf(answer)['parameters']).data ?? {}
    return lastingOf(answer)
  })
  const { retry_after: wait, migrate_to_chat_id: newChatId } = found
  return { outcome: withWait(outcome, wait), newChatId: newChatId === undefined ? null : String(newChatId) }
}

function lastingOf(answer: Answer): 'GONE' | 'REFUSED' | null {
  if ([401, 403, 404].includes(answer.status)) return 'GONE'
  if (answer.status !== 400) return null
  return /chat not found|user is deactivated|group chat was/i.test(String(jsonOf(answer)['description']))
    ? 'GONE'
    : 'REFUSED'
}

/** https://core.telegram.org/bots/api#responseparameters */
const parameters = z.object({
  retry_after: z.number().min(0).optional().catch(undefined),
  migrate_to_chat_id: z.int().optional().catch(undefined),
})

function withWait(outcome: SendResult, seconds: number | undefined): SendResult {
  return outcome.kind === 'failed' && seconds !== undefined ? { ...outcome, retryAfterMs: seconds * SECOND } : outcome
}

/**
 * Telegram's HTML (https://core.telegram.org/bots/api#html-style). It has no lists, and a quote would have to be one element, so both
 * are marked as in emails.
 */
const style: TextStyle = {
  text: (text) => escapeHtml(text),
  link: (label, url) => `<a href="${escapeHtml(url)}">${label}</a>`,
  bullet: '• ',
  quote: '&#62; ',
  code: (code) => `<pre>${escapeHtml(code)}</pre>`,
}

/** Returns the length of a text without its markup, by which Telegram measures it. */
const lengthOf = (written: string) => written.replace(/<[^<>]*>/g, '').replace(/&#\d+;/g, '&').length

const writer = createTextWriter(style, lengthOf)

function textOf(
  { page, words, headline, facts, html, action, reason }: NotificationContent,
  manageUrl: string,
): string {
  const head = `${writer.line(words.page.feed(page.name), MAX_LINE)}\n<b>${writer.line(headline, MAX_LINE)}</b>`
  const lines = writeFacts(writer, facts, MAX_FACTS).map(([name, value]) => `${name}: ${value}`)
  const about = `${writer.line(reason, MAX_LINE)} ${writer.link(words.mail.manage, manageUrl)}`
  const parts = (text: string) =>
    [head, lines.join('\n'), text, writer.link(action.label, action.url), about].filter(Boolean).join('\n\n')
  const room = MAX_MESSAGE_LENGTH - lengthOf(parts('…')) - 1
  return parts(writer.message(html, room))
}
