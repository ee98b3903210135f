import { z } from 'zod'
import type { TextStyle } from '../../core/markdown/html-text.ts'
import { SECOND } from '../../core/time.ts'
import type { Answer } from '../../network/outbound/outbound.ts'
import type { NotificationContent } from '../content/content.ts'
import type { Address, Channel, SendResult } from './channel.ts'
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
 * JSON, and the seconds to wait in `parameters.retry_after`. 401, 403 and 404: the bot was deleted or removed; 400: the
 * chat is unknown or the message is invalid.
 */
export const telegram: Channel = {
  name: 'Telegram',
  address,
  async send({ content, address, manageUrl }, tools) {
    const [botToken, chatId] = [address.slice(0, address.indexOf('/')), address.slice(address.indexOf('/') + 1)]
    const body = JSON.stringify({
      chat_id: chatId,
      text: textOf(content, manageUrl),
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    })
    let wait: number | null = null
    const outcome = await post({ url: `https://${HOST}/bot${botToken}/sendMessage`, body }, tools, (answer) => {
      wait = retryAfterOf(answer)
      return lastingOf(answer)
    })
    return withWait(outcome, wait)
  },
}

function lastingOf(answer: Answer): 'GONE' | 'REFUSED' | null {
  if ([401, 403, 404].includes(answer.status)) return 'GONE'
  if (answer.status !== 400) return null
  return /chat not found|user is deactivated|group chat was/i.test(String(jsonOf(answer)['description']))
    ? 'GONE'
    : 'REFUSED'
}

const parameters = z.object({ retry_after: z.number().min(0) })

function retryAfterOf(answer: Answer): number | null {
  const parsed = parameters.safeParse(jsonOf(answer)['parameters'])
  return parsed.success ? parsed.data.retry_after * SECOND : null
}

function withWait(outcome: SendResult, wait: number | null): SendResult {
  return outcome.kind === 'failed' && wait !== null ? { ...outcome, retryAfterMs: wait } : outcome
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
const lengthOf = (written: string) => written.replace(/<[^>]*>/g, '').replace(/&#\d+;/g, '&').length

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
