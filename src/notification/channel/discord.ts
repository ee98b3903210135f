import { plainText } from '../../markdown.ts'
import type { Letter, Tone } from '../letter.ts'
import type { Channel } from './channel.ts'
import { hookAddress } from './channel.ts'
import { cut } from './cut.ts'
import { post } from './post.ts'

/**
 * Discord's webhooks (https://docs.discord.com/developers/resources/webhook#execute-webhook): 401, 403 and 404 say that the
 * webhook is no more; 400 that the message is not taken; 429 when to come again.
 */
export const discord: Channel = {
  name: 'Discord',
  address: hookAddress('Discord', ['discord.com', 'discordapp.com']),
  send: ({ letter, address, manageUrl }, tools) =>
    post({ url: waiting(address), body: JSON.stringify(bodyOf(letter, manageUrl)) }, tools, ({ status }) =>
      [401, 403, 404].includes(status) ? 'GONE' : status === 400 ? 'REFUSED' : null,
    ),
}

/** Answered only once the message is there. */
function waiting(address: string): string {
  const url = new URL(address)
  url.searchParams.set('wait', 'true')
  return url.href
}

/** Lengths as in https://docs.discord.com/developers/resources/message#embed-object-embed-limits. */
function bodyOf({ page, headline, tone, facts, html, action, reason, event }: Letter, manageUrl: string) {
  const said = [plainText(html), `[${action.label}](${action.url})`].filter(Boolean).map((text) => cut(text, 3500))
  return {
    username: cut(`${page.name} status`.replace(/discord|clyde/gi, '…'), 80),
    // Nobody is called by what a message says.
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: cut(headline, 256),
        url: action.url,
        description: said.join('\n\n'),
        color: colours[tone],
        timestamp: event.at.toISOString(),
        fields: [
          ...facts.map(([name, value]) => ({ name: cut(name, 256), value: cut(value, 1000), inline: false })),
          { name: 'About this message', value: `${cut(reason, 600)} [Change or end it](${manageUrl})`, inline: false },
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
