import type { TextStyle } from '../../core/markdown/html-text.ts'
import type { NotificationContent, Tone } from '../content/content.ts'
import type { Channel } from './channel.ts'
import { incomingWebhookAddress } from './channel.ts'
import { post } from './post.ts'
import { createTextWriter, escapeMarks, markdownAddress, writeFacts } from './text.ts'

/**
 * Workflows of Microsoft Teams that post to a channel "when a webhook request is received", with an adaptive card
 * (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using). 404 and 410:
 * the workflow is deleted; 400 and 401: it is turned off.
 */
export const teams: Channel = {
  name: 'Microsoft Teams',
  address: incomingWebhookAddress('Microsoft Teams', ['logic.azure.com', 'environment.api.powerplatform.com']),
  send: ({ content, address, manageUrl }, tools) =>
    post({ url: address, body: JSON.stringify(bodyOf(content, manageUrl)) }, tools, ({ status }) =>
      [404, 410].includes(status) ? 'GONE' : null,
    ),
}

/**
 * The maximum size of a message in bytes: 28 KB, less what the workflow adds
 * (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using#rate-limiting-for-connectors).
 */
const MAX_BYTES = 26_000
/** The maximum length of a headline or a sentence, and of all facts, so that the message has room. */
const [MAX_LINE, MAX_FACTS] = [600, 5000]

function bodyOf(content: NotificationContent, manageUrl: string) {
  const size = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
  const room = MAX_BYTES - size(cardOf(content, manageUrl, '…'))
  return cardOf(
    content,
    manageUrl,
    asParagraphs(writer.message(content.html, room, (text) => size(asParagraphs(text)))),
  )
}

function cardOf(
  { page, words, headline, tone, facts, action, reason }: NotificationContent,
  manageUrl: string,
  message: string,
) {
  const paragraph = (text: string, more: object = {}) => ({ type: 'TextBlock', text, wrap: true, ...more })
  const line = (text: string, more: object) => paragraph(writer.line(text, MAX_LINE), more)
  const written = writeFacts(writer, facts, MAX_FACTS).map(([title, value]) => ({ title, value }))
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      line(words.page.feed(page.name), { isSubtle: true, size: 'Small' }),
      line(headline, { weight: 'Bolder', size: 'Medium', color: colours[tone] }),
      ...(facts.length === 0 ? [] : [{ type: 'FactSet', facts: written }]),
      ...(message === '' ? [] : [paragraph(message)]),
      line(reason, { isSubtle: true, size: 'Small' }),
    ],
    actions: [
      { type: 'Action.OpenUrl', title: action.label, url: action.url },
      { type: 'Action.OpenUrl', title: words.mail.manage, url: manageUrl },
    ],
  }
  return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }] }
}

/** Separates lines by empty ones, without which Teams joins them, except for the items of a list. */
const asParagraphs = (text: string) => text.replace(/(?<!\n)\n(?!\n|\s*(?:-|\d+\.) )/g, '\n\n')

/**
 * The Markdown of text blocks: links, emphasis and lists
 * (https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features).
 */
const style: TextStyle = {
  text: (text, isLineStart) => escapeMarks(text, /[\\`*_[\]<>#]/g, isLineStart),
  link: (label, url) => `[${label}](${markdownAddress(url)})`,
  bullet: '- ',
  quote: '\\> ',
}

const writer = createTextWriter(style)

const colours = {
  good: 'Good',
  planned: 'Accent',
  minor: 'Warning',
  major: 'Attention',
  neutral: 'Default',
} as const satisfies Record<Tone, string>
