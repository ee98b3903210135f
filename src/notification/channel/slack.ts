import type { TextStyle } from '../../core/markdown/html-text.ts'
import { ownValue } from '../../core/own-value.ts'
import type { NotificationContent, Tone } from '../content/content.ts'
import type { Channel } from './channel.ts'
import { incomingWebhookAddress } from './channel.ts'
import { post } from './post.ts'
import { createTextWriter, writeFacts } from './text.ts'

/** The maximum text length of a section, in characters (https://docs.slack.dev/reference/block-kit/blocks/section-block). */
const MAX_TEXT_LENGTH = 3000
/** The maximum length of a headline or a sentence, and of all facts, which have further sections if they are long. */
const [MAX_LINE, MAX_FACTS] = [500, 20_000]

/**
 * Slack's incoming webhooks (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks). 403, 404 and
 * 410: the webhook, its channel or its team is gone or closed; 400: the message is invalid.
 */
export const slack: Channel = {
  name: 'Slack',
  address: incomingWebhookAddress('Slack', ['hooks.slack.com', 'hooks.slack-gov.com']),
  send: ({ content, address, manageUrl }, tools) =>
    post({ url: address, body: JSON.stringify(bodyOf(content, manageUrl)) }, tools, ({ status }) =>
      [403, 404, 410].includes(status) ? 'GONE' : status === 400 ? 'REFUSED' : null,
    ),
}

function bodyOf({ page, words, headline, tone, facts, html, action, reason }: NotificationContent, manageUrl: string) {
  const lines = writeFacts(writer, facts, MAX_FACTS).map(([name, value]) => `${name}: ${value}`)
  const [shown = '', ...others] = inSections(lines)
  const link = writer.link(action.label, action.url)
  const head = `*${writer.line(headline, MAX_LINE)}*`
  const parts = (text: string) => [head, shown, text, link].filter((part) => part !== '').join('\n')
  const room = MAX_TEXT_LENGTH - parts('').length - 1
  const text = writer.message(html, room)
  const section = (content: string) => ({ type: 'section', text: { type: 'mrkdwn', text: content } })
  const manage = writer.link(words.mail.manage, manageUrl)
  return {
    text: writer.line(`${words.page.feed(page.name)}: ${headline}`, MAX_TEXT_LENGTH),
    unfurl_links: false,
    attachments: [
      {
        color: colours[tone],
        blocks: [
          section(parts(text)),
          ...others.map(section),
          { type: 'context', elements: [{ type: 'mrkdwn', text: `${writer.line(reason, MAX_LINE)} ${manage}` }] },
        ],
      },
    ],
  }
}

/** Distributes lines among sections. The first one has room for the headline, the message and the link. */
function inSections(lines: readonly string[]): string[] {
  const sections = ['']
  for (const line of lines) {
    const last = sections.length - 1
    const joined = sections[last] === '' ? line : `${sections[last]}\n${line}`
    if (joined.length <= (last === 0 ? MAX_TEXT_LENGTH / 2 : MAX_TEXT_LENGTH)) sections[last] = joined
    else sections.push(line)
  }
  return sections
}

/**
 * Slack's mrkdwn (https://docs.slack.dev/messaging/formatting-message-text). It has entities for three characters, but no escape for
 * emphasis: a mark that would begin it becomes a character that looks alike. Slack shows lists as they are written.
 */
const style: TextStyle = {
  text: (text, isLineStart) => {
    const escaped = escapeText(text.replace(openingMark, (mark) => ownValue(likeMarks, mark) ?? mark))
    return isLineStart && /^\s*&gt;/.test(escaped) ? `\u200b${escaped}` : escaped
  },
  link: (label, url, isAddress) => (isAddress ? `<${address(url)}>` : `<${address(url)}|${label}>`),
  bullet: '• ',
  quote: '> ',
  code: (code) => `\`\`\`\n${escapeText(code.replaceAll('`', 'ˋ'))}\n\`\`\``,
}

/** A mark of emphasis where Slack lets one begin: not within a word, and before a character. Code may begin anywhere. */
const openingMark = /(?<![\p{L}\p{N}])[*_~](?=\S)|`/gu
const likeMarks: Readonly<Record<string, string>> = { '*': '∗', _: 'ˍ', '~': '∼', '`': 'ˋ' }

/** Escapes the three special characters (https://docs.slack.dev/messaging/formatting-message-text#escaping). */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

const address = (url: string) => escapeText(url.replace(/[<>|]/g, encodeURIComponent))

const writer = createTextWriter(style)

const colours = {
  good: '#0b6e5a',
  planned: '#1f5a94',
  minor: '#c98a00',
  major: '#b3261e',
  neutral: '#5b6166',
} as const satisfies Record<Tone, string>
