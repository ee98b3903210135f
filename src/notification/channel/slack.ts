import { plainText } from '../../markdown.ts'
import type { Letter, Tone } from '../letter.ts'
import type { Channel } from './channel.ts'
import { hookAddress } from './channel.ts'
import { cut } from './cut.ts'
import { post } from './post.ts'

/** The most characters that Slack takes in the text of a section. */
const LONGEST_TEXT = 3000

/**
 * Slack's incoming webhooks (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks): 403, 404 and 410
 * say that the hook, its channel or its team is no more or may not be written to; 400 that the message is not taken.
 */
export const slack: Channel = {
  name: 'Slack',
  address: hookAddress('Slack', ['hooks.slack.com', 'hooks.slack-gov.com']),
  send: ({ letter, address, manageUrl }, tools) =>
    post({ url: address, body: JSON.stringify(bodyOf(letter, manageUrl)) }, tools, ({ status }) =>
      [403, 404, 410].includes(status) ? 'GONE' : status === 400 ? 'REFUSED' : null,
    ),
}

function bodyOf({ page, headline, tone, facts, html, action, reason }: Letter, manageUrl: string) {
  const said = [
    `*${escapeText(headline)}*`,
    ...facts.map(([name, value]) => `${escapeText(name)}: ${escapeText(value)}`),
    ...(html === '' ? [] : [escapeText(plainText(html))]),
    link(action.url, action.label),
  ]
  return {
    text: escapeText(`${page.name} status: ${headline}`),
    unfurl_links: false,
    attachments: [
      {
        color: colours[tone],
        blocks: [
          { type: 'section', text: { type: 'mrkdwn', text: cut(said.join('\n'), LONGEST_TEXT) } },
          {
            type: 'context',
            elements: [
              { type: 'mrkdwn', text: cut(`${escapeText(reason)} ${link(manageUrl, 'Change or end it')}`, 2000) },
            ],
          },
        ],
      },
    ],
  }
}

const link = (url: string, label: string) => `<${url}|${escapeText(label)}>`

/** The three characters that mean something (https://docs.slack.dev/messaging/formatting-message-text#escaping). */
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
