import { z } from 'zod'
import { cutAtWord } from '../../core/truncate.ts'
import { bodyOf, defineSender } from './sender.ts'

/** The destination of messages to browsers, which the database queues. */
export const PUSH = 'push'

/** How many members a channel can name. */
const MAX_MEMBERS = 50

/** The maximum lengths of the texts that browsers show. */
const MAX_TITLE = 200
const MAX_BODY = 500

/** Web Push to the browsers of members. Each browser has its own delivery and retries. */
export const push = defineSender({
  name: 'Web Push',
  kind: 'PEOPLE',
  fields: z.object({
    userIds: z
      .array(z.string().max(50))
      .max(MAX_MEMBERS, `must have at most ${MAX_MEMBERS} members`)
      .nullish()
      .transform((ids) => ids ?? []),
  }),
  describe: ({ userIds: { length } }) => ({
    label: length === 0 ? 'every member' : `${length} member${length === 1 ? '' : 's'}`,
    destination: PUSH,
    url: null,
  }),
  async send({ userIds }, message, { push: memberPush, outbound }) {
    if (memberPush === undefined) throw new Error('This process cannot send to browsers.')
    const { id, items, organization, title, url, acknowledgeUrl } = message
    const [first, ...others] = items
    const about = {
      ...{ organizationId: organization.id, userIds, alertDeliveryId: id },
      // A later notification of the same alert replaces this one.
      subjectId: others.length === 0 ? first.alertId : id,
      content: {
        title: cutAtWord(`${organization.name}: ${title}`, MAX_TITLE),
        body: bodyOf(message, MAX_BODY),
        path: pathOf(url),
      },
      acknowledgePath: acknowledgeUrl === null ? null : pathOf(acknowledgeUrl),
    }
    return first.about === 'TEST' ? memberPush.test(about, outbound) : memberPush.queue(about)
  },
})

const pathOf = (url: string) => new URL(url).pathname
