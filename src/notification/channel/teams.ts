import { plainText } from '../../core/markdown/markdown.ts'
import { truncate } from '../../core/truncate.ts'
import type { NotificationContent, Tone } from '../content/content.ts'
import type { Channel } from './channel.ts'
import { incomingWebhookAddress } from './channel.ts'
import { post } from './post.ts'

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

/** Teams accepts 28 KB. */
const MAX_TEXT_LENGTH = 5000

function bodyOf({ page, words, headline, tone, facts, html, action, reason }: NotificationContent, manageUrl: string) {
  const paragraph = (text: string, more: object = {}) => ({
    type: 'TextBlock',
    text: truncate(escapeText(text), MAX_TEXT_LENGTH),
    wrap: true,
    ...more,
  })
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      paragraph(words.page.feed(page.name), { isSubtle: true, size: 'Small' }),
      paragraph(headline, { weight: 'Bolder', size: 'Medium', color: colours[tone] }),
      ...(facts.length === 0
        ? []
        : [
            {
              type: 'FactSet',
              facts: facts.map(([title, value]) => ({ title, value: truncate(escapeText(value), 1000) })),
            },
          ]),
      ...(html === '' ? [] : [paragraph(plainText(html))]),
      paragraph(reason, { isSubtle: true, size: 'Small' }),
    ],
    actions: [
      { type: 'Action.OpenUrl', title: action.label, url: action.url },
      { type: 'Action.OpenUrl', title: words.mail.manage, url: manageUrl },
    ],
  }
  return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }] }
}

/** Escapes the Markdown of text blocks: links, emphasis and lists. */
function escapeText(text: string): string {
  return text.replace(/[\\`*_[\]<>#]/g, '\\$&')
}

const colours = {
  good: 'Good',
  planned: 'Accent',
  minor: 'Warning',
  major: 'Attention',
  neutral: 'Default',
} as const satisfies Record<Tone, string>
