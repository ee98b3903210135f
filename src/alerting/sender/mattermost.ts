import { z } from 'zod'
import { cutAtWord } from '../../core/truncate.ts'
import { post } from '../../notification/channel/post.ts'
import { escapeMarks } from '../../notification/channel/text.ts'
import type { Tone } from '../../notification/content/content.ts'
import type { AlertMessage } from './sender.ts'
import { bodyOf, defineSender, serverUrl } from './sender.ts'

/** A post takes 16,383 characters, including attachments. */
const MAX_TEXT_LENGTH = 5000

/**
 * Mattermost's incoming webhooks (https://developers.mattermost.com/integrate/webhooks/incoming/), with an attachment
 * (https://developers.mattermost.com/integrate/reference/message-attachments/). 400: the message is invalid; 403 and 404: the
 * webhook is unknown; 501: webhooks are turned off.
 */
export const mattermost = defineSender({
  name: 'Mattermost',
  kind: 'PEOPLE',
  fields: z.object({
    url: serverUrl.refine((url) => /\/hooks\/[a-z0-9]{10,64}$/.test(url), {
      message: 'must be the URL of an incoming webhook, such as https://chat.example.com/hooks/…',
    }),
  }),
  describe: ({ url }) => ({
    label: `${new URL(url).host}/…${url.slice(-4)}`,
    destination: new URL(url).host,
    url,
  }),
  send: ({ url }, message, tools) =>
    post({ url, body: JSON.stringify(payloadOf(message)) }, tools, ({ status }) =>
      [400, 401, 403, 404, 501].includes(status) ? 'REFUSED' : null,
    ),
})

function payloadOf(message: AlertMessage) {
  const { title, tone, url, acknowledgeUrl, organization } = message
  const links = [...(acknowledgeUrl === null ? [] : [`[Acknowledge](${acknowledgeUrl})`]), `[Open in Allclear](${url})`]
  const text = escapeMarkdown(bodyOf(message, MAX_TEXT_LENGTH, (plain) => escapeMarkdown(plain).length))
  return {
    username: cutAtWord(organization.name, 64),
    attachments: [
      {
        fallback: withoutMentions(title),
        color: colours[tone],
        title: withoutMentions(cutAtWord(title, 200)),
        title_link: url,
        text: [text, links.join(' · ')].filter(Boolean).join('\n\n'),
      },
    ],
  }
}

/** Escapes Markdown and mentions in texts of monitors, line by line. */
const escapeMarkdown = (text: string) =>
  text
    .split('\n')
    .map((line) => withoutMentions(escapeMarks(line, /[\\`*_[\]<>#~|]/g, true)))
    .join('\n')

/** Mentions work in titles as well, which have no other markup when they are links. */
const withoutMentions = (text: string) => text.replace(/@/g, '@\u200b')

const colours = {
  good: '#0b6e5a',
  planned: '#1f5a94',
  minor: '#c98a00',
  major: '#b3261e',
  neutral: '#5b6166',
} as const satisfies Record<Tone, string>
