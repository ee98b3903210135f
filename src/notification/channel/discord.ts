import { plainText } from '../../core/markdown/markdown.ts'
import { truncate } from '../../core/truncate.ts'
import type { NotificationContent, Tone } from '../content/content.ts'
import type { Channel } from './channel.ts'
import { incomingWebhookAddress } from './channel.ts'
import { post } from './post.ts'

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
function bodyOf(
  { page, words, headline, tone, facts, html, action, reason, event }: NotificationContent,
  manageUrl: string,
) {
  const paragraphs = [plainText(html), `[${action.label}](${action.url})`]
    .filter(Boolean)
    .map((text) => truncate(text, 3500))
  return {
    username: truncate(words.page.feed(page.name).replace(/discord|clyde/gi, '…'), 80),
    // Keeps mentions in a message from notifying users.
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: truncate(headline, 256),
        url: action.url,
        description: paragraphs.join('\n\n'),
        color: colours[tone],
        timestamp: event.at.toISOString(),
        fields: [
          ...facts.map(([name, value]) => ({ name: truncate(name, 256), value: truncate(value, 1000), inline: false })),
          {
            name: words.mail.about,
            value: `${truncate(reason, 600)} [${words.mail.manage}](${manageUrl})`,
            inline: false,
          },
        ],
      },
    ],
  }
}

const colours = {
  good: 0x0b6e5a,
  planned: 0x1f5a94,
  minor: 0xc98a00,
  major: 0xb3261e,
  neutral: 0x5b6166,
} as const satisfies Record<Tone, number>
