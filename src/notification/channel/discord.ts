import type { TextStyle } from '../../core/markdown/html-text.ts'
import { truncate } from '../../core/truncate.ts'
import type { NotificationContent, Tone } from '../content/content.ts'
import type { Channel } from './channel.ts'
import { incomingWebhookAddress } from './channel.ts'
import { post } from './post.ts'
import { createTextWriter, escapeMarks, markdownAddress, writeFacts } from './text.ts'

/**
 * Discord webhooks (https://docs.discord.com/developers/resources/webhook#execute-webhook). 401, 403 and 404: the
 * webhook is gone; 400: the message is invalid; 429 carries `Retry-After`.
 */
export const discord: Channel = {
  name: 'Discord',
  address: incomingWebhookAddress('Discord', ['discord.com', 'discordapp.com']),
  send: ({ content, address, manageUrl }, tools) =>
    post({ url: withWait(address), body: JSON.stringify(bodyOf(content, manageUrl)) }, tools, ({ status }) =>
      [401, 403, 404].includes(status) ? 'GONE' : status === 400 ? 'REFUSED' : null,
    ),
}

/** Adds `wait`, so that Discord responds after it has posted the message. */
function withWait(address: string): string {
  const url = new URL(address)
  url.searchParams.set('wait', 'true')
  return url.href
}

/** Lengths as in https://docs.discord.com/developers/resources/message#embed-object-embed-limits. */
const [MAX_TITLE, MAX_DESCRIPTION, MAX_EMBED, MAX_FIELDS] = [256, 4096, 6000, 25]
/** The maximum length of a sentence, and of all facts, so that the message has room. */
const [MAX_LINE, MAX_FACTS] = [600, 2500]

function bodyOf(
  { page, words, headline, tone, facts, html, action, reason, event }: NotificationContent,
  manageUrl: string,
) {
  const written = writeFacts(writer, facts, MAX_FACTS).map(([name, value]) => ({ name, value, inline: false }))
  const about = {
    name: words.mail.about,
    value: `${writer.line(reason, MAX_LINE)} ${writer.link(words.mail.manage, manageUrl)}`,
    inline: false,
  }
  // An embed has a limited number of fields. More facts are lines of the description.
  const areFields = written.length < MAX_FIELDS
  const fields = areFields ? [...written, about] : [about]
  const title = writer.line(headline, MAX_TITLE)
  const rest = title.length + fields.reduce((sum, { name, value }) => sum + name.length + value.length, 0)
  const lines = areFields ? '' : written.map(({ name, value }) => `${name}: ${value}`).join('\n')
  const description = (text: string) =>
    [lines, text, writer.link(action.label, action.url)].filter(Boolean).join('\n\n')
  const room = Math.min(MAX_DESCRIPTION, MAX_EMBED - rest) - description('').length - 2
  const text = writer.message(html, room)
  return {
    username: truncate(words.page.feed(page.name).replace(/discord|clyde/gi, '…'), 80),
    // Keeps mentions in a message from notifying users.
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title,
        url: action.url,
        description: description(text),
        color: colours[tone],
        timestamp: event.at.toISOString(),
        fields,
      },
    ],
  }
}

/**
 * Discord's Markdown (https://support.discord.com/hc/articles/210298617), and the tags of mentions, emoji and times
 * (https://docs.discord.com/developers/reference#message-formatting).
 */
const style: TextStyle = {
  text: (text, isLineStart) =>
    escapeMarks(text, /[\\`*_~[\]]|\|(?=\|)|<(?=[@#:]|a:|t:|id:|\/[\w -]+:|https?:)/g, isLineStart).replace(
      /@(?=everyone|here)/g,
      '@\u200b',
    ),
  link: (label, url, isAddress) => (isAddress ? markdownAddress(url) : `[${label}](${markdownAddress(url)})`),
  bullet: '- ',
  quote: '> ',
  code: (code) => `\`\`\`\n${code.replaceAll('`', 'ˋ')}\n\`\`\``,
}

const writer = createTextWriter(style)

const colours = {
  good: 0x0b6e5a,
  planned: 0x1f5a94,
  minor: 0xc98a00,
  major: 0xb3261e,
  neutral: 0x5b6166,
} as const satisfies Record<Tone, number>
