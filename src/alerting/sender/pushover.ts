import { z } from 'zod'
import { SECOND } from '../../core/time.ts'
import { cutAtWord } from '../../core/truncate.ts'
import { post } from '../../notification/channel/post.ts'
import { bodyOf, defineSender, secretText } from './sender.ts'

const HOST = 'api.pushover.net'
/** The maximum length of a message, in characters (https://pushover.net/api#limits). */
const MAX_MESSAGE = 1024

/** The form of Pushover's tokens and keys (https://pushover.net/api#identifiers). */
const key = (what: string) => secretText(/^[A-Za-z0-9]{30}$/, `must be ${what}: 30 letters and digits`)

/**
 * Pushover (https://pushover.net/api). Any 4xx: the input is invalid or the monthly quota is used up, and the message must not be
 * sent again. Otherwise retry after five seconds at the earliest. Lengths as documented there.
 */
export const pushover = defineSender({
  name: 'Pushover',
  kind: 'PEOPLE',
  fields: z.object({
    token: key('the token of an application'),
    user: key('the key of a user or a group'),
    device: secretText(/^[-_A-Za-z0-9]{1,25}$/, 'must be the name of a device').nullish(),
  }),
  describe: ({ user, device }) => ({
    label: `user …${user.slice(-4)}${device == null ? '' : `, ${device}`}`,
    destination: HOST,
    url: null,
  }),
  send: ({ token, user, device }, message, tools) => {
    const { title, tone, url, acknowledgeUrl, items } = message
    const body = {
      token,
      user,
      ...(device != null && { device }),
      title: cutAtWord(title, 250),
      message: bodyOf(message, MAX_MESSAGE) || cutAtWord(title, MAX_MESSAGE),
      url: acknowledgeUrl ?? url,
      url_title: acknowledgeUrl === null ? 'Open in Allclear' : 'Acknowledge',
      // 1 bypasses the user's quiet hours.
      priority: tone === 'major' ? 1 : 0,
      timestamp: Math.floor(items[0].at.getTime() / SECOND),
    }
    return post({ url: `https://${HOST}/1/messages.json`, body: JSON.stringify(body) }, tools, ({ status }) =>
      status >= 400 && status < 500 ? 'REFUSED' : null,
    )
  },
})
