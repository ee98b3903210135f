import { plainText } from '../../core/markdown/markdown.ts'
import { truncate } from '../../core/truncate.ts'
import type { NotificationContent, Tone } from '../content/content.ts'
import type { Channel } from './channel.ts'
import { incomingWebhookAddress } from './channel.ts'
import { post } from './post.ts'

/** The maximum text length of a section in Slack, in characters. */
const MAX_TEXT_LENGTH = 3000

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
  const lines = [
    `*${escapeText(headline)}*`,
    ...facts.map(([name, value]) => `${escapeText(name)}: ${escapeText(value)}`),
    ...(html === '' ? [] : [escapeText(plainText(html))]),
    link(action.url, action.label),
  ]
  return {
    text: escapeText(`${words.page.feed(page.name)}: ${headline}`),
    unfurl_links: false,
    attachments: [
      {
        color: colours[tone],
        blocks: [
          { type: 'section', text: { type: 'mrkdwn', text: truncate(lines.join('\n'), MAX_TEXT_LENGTH) } },
          {
            type: 'context',
            elements: [
              {
                type: 'mrkdwn',
                text: truncate(`${escapeText(reason)} ${link(manageUrl, words.mail.manage)}`, 2000),
              },
            ],
          },
        ],
      },
    ],
  }
}

const link = (url: string, label: string) => `<${url}|${escapeText(label)}>`

/** Escapes the three special characters (https://docs.slack.dev/messaging/formatting-message-text#escaping). */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

const colours = {
  good: '#0b6e5a',
  planned: '#1f5a94',
  minor: '#c98a00',
  major: '#b3261e',
  neutral: '#5b6166',
} as const satisfies Record<Tone, string>
