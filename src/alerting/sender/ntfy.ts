import { z } from 'zod'
import { cutAtWord } from '../../core/truncate.ts'
import { post } from '../../notification/channel/post.ts'
import type { Tone } from '../../notification/content/content.ts'
import { bodyOf, byteLength, defineSender, secretText, serverUrl } from './sender.ts'

/** A message has at most 4,096 bytes (https://docs.ntfy.sh/publish/#limitations); longer ones become attachments. */
const MAX_BYTES = 4096

/**
 * ntfy (https://docs.ntfy.sh/publish/#publish-as-json): JSON is posted to the root of the server. 401 and 403: the topic refuses
 * us; 400: the message is invalid; 404: there is no ntfy server; 413: the message is too large.
 */
export const ntfy = defineSender({
  name: 'ntfy',
  kind: 'PEOPLE',
  fields: z.object({
    server: serverUrl.default('https://ntfy.sh'),
    topic: z
      .string()
      .trim()
      .regex(/^[-_A-Za-z0-9]{1,64}$/, 'must have 1 to 64 letters, digits, - or _'),
    token: secretText(/^[-_A-Za-z0-9]+$/, 'must be an access token, such as tk_…').nullish(),
  }),
  describe: ({ server, topic }) => ({
    label: `${new URL(server).host}/${topic}`,
    destination: new URL(server).host,
    url: server,
  }),
  send: ({ server, topic, token }, message, tools) => {
    const { title, tone, url, acknowledgeUrl } = message
    const body = {
      topic,
      title: cutAtWord(title, 200),
      message: bodyOf(message, MAX_BYTES, byteLength) || cutAtWord(title, MAX_BYTES / 4),
      priority: priorities[tone],
      tags: [tags[tone]],
      click: url,
      ...(acknowledgeUrl !== null && { actions: [{ action: 'view', label: 'Acknowledge', url: acknowledgeUrl }] }),
    }
    const headers: Record<string, string> = token == null ? {} : { authorization: `Bearer ${token}` }
    return post({ url: `${server}/`, body: JSON.stringify(body), headers }, tools, ({ status }) =>
      [400, 401, 403, 404, 413].includes(status) ? 'REFUSED' : null,
    )
  },
})

/** https://docs.ntfy.sh/publish/#message-priority: 5 is a long alarm, 4 a short one, 3 the default. */
const priorities = { good: 3, planned: 3, minor: 4, major: 5, neutral: 3 } as const satisfies Record<Tone, number>

/** https://docs.ntfy.sh/emojis/ */
const tags = {
  good: 'white_check_mark',
  planned: 'wrench',
  minor: 'warning',
  major: 'rotating_light',
  neutral: 'grey_question',
} as const satisfies Record<Tone, string>
