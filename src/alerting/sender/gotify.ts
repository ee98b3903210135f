import { z } from 'zod'
import { post } from '../../notification/channel/post.ts'
import type { Tone } from '../../notification/content/content.ts'
import { bodyOf, defineSender, secretText, serverUrl } from './sender.ts'

/**
 * Gotify (https://gotify.net/docs/pushmsg, https://gotify.net/api-docs#/message/createMessage). 400: the message is invalid; 401
 * and 403: the token belongs to no application; 404: there is no Gotify server.
 */
export const gotify = defineSender({
  name: 'Gotify',
  kind: 'PEOPLE',
  fields: z.object({
    server: serverUrl,
    token: secretText(/^[-._A-Za-z0-9]+$/, 'must be the token of an application'),
  }),
  describe: ({ server }) => ({ label: new URL(server).host, destination: new URL(server).host, url: server }),
  send: ({ server, token }, message, tools) => {
    const { title, tone, url, acknowledgeUrl } = message
    const text = bodyOf(message) || title
    const body = {
      title,
      message: acknowledgeUrl === null ? text : `${text}\n\nAcknowledge: ${acknowledgeUrl}`,
      priority: priorities[tone],
      // https://gotify.net/docs/msgextras
      extras: { 'client::display': { contentType: 'text/plain' }, 'client::notification': { click: { url } } },
    }
    const headers = { 'x-gotify-key': token }
    return post({ url: `${server}/message`, body: JSON.stringify(body), headers }, tools, ({ status }) =>
      [400, 401, 403, 404].includes(status) ? 'REFUSED' : null,
    )
  },
})

/** Gotify's apps play a sound from 8 on, and show a notification from 4 on. */
const priorities = { good: 5, planned: 4, minor: 6, major: 8, neutral: 5 } as const satisfies Record<Tone, number>
