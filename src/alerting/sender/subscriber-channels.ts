import { z } from 'zod'
import { issueMessage } from '../../core/issue-message.ts'
import { textAsHtml } from '../../core/markdown/markdown.ts'
import type { Catalogue } from '../../language/catalogue.ts'
import { wordsOf } from '../../language/catalogue.ts'
import type { Address, Channel } from '../../notification/channel/channel.ts'
import { discord as discordChannel } from '../../notification/channel/discord.ts'
import { slack as slackChannel } from '../../notification/channel/slack.ts'
import { teams as teamsChannel } from '../../notification/channel/teams.ts'
import { telegram as telegramChannel } from '../../notification/channel/telegram.ts'
import type { NotificationContent } from '../../notification/content/content.ts'
import type { AlertMessage, AlertSender } from './sender.ts'
import { bodyOf } from './sender.ts'

/** Sends alerts through a subscriber channel. */
function throughChannel<S extends z.ZodObject>(
  channel: Channel,
  fields: S,
  inputOf: (address: z.output<S>) => unknown,
): AlertSender {
  const parse = (data: z.output<S>) => channel.address.safeParse(inputOf(data), { error: issueMessage })
  return {
    name: channel.name,
    isMachine: false,
    hasLifecycle: false,
    address: fields.transform((data, ctx) => {
      const parsed = parse(data)
      if (parsed.success) {
        const { label, destination } = parsed.data
        return { data: data as Readonly<Record<string, unknown>>, label, destination, url: null }
      }
      const isOneUrl = 'url' in data
      for (const { message, path } of parsed.error.issues)
        ctx.addIssue({ code: 'custom', message, path: isOneUrl ? ['url'] : [...path] })
      return z.NEVER
    }),
    async send(message, tools) {
      const address: Address = channel.address.parse(inputOf(fields.parse(message.address)))
      return channel.send(
        {
          id: message.id,
          content: contentOf(message),
          address: address.text,
          secrets: [],
          manageUrl: message.acknowledgeUrl === null ? message.settingsUrl : message.url,
          unsubscribeUrl: message.settingsUrl,
          thread: message.id,
          opensThread: true,
        },
        tools,
      )
    },
  }
}

/** The maximum length of the details, which every channel has room for, so that the times of an alert are never cut. */
const MAX_BODY = 1500

/** Renders an alert as the content of a notification. */
function contentOf(message: AlertMessage): NotificationContent {
  const { organization, channel, title, tone, acknowledgeUrl, url, items } = message
  const body = bodyOf(message, MAX_BODY)
  return {
    page: { name: organization.name, slug: organization.slug, url },
    look: { accentColor: '#0d6656', logoUrl: null },
    words: wordsFor(acknowledgeUrl === null ? 'Channel settings' : 'Open in Allclear'),
    subject: title,
    headline: title,
    tone,
    facts: [],
    message: body,
    html: textAsHtml(body),
    action:
      acknowledgeUrl === null ? { label: 'Open in Allclear', url } : { label: 'Acknowledge', url: acknowledgeUrl },
    reason: `Alert channel ${channel}.`,
    event: { type: 'alert', at: items[0].at, data: {} },
  }
}

/** Returns the words that a channel adds. `manage` labels its second link; the sender is the organization. */
function wordsFor(manage: string): Catalogue {
  const words = wordsOf('EN')
  return { ...words, page: { ...words.page, feed: (name) => name }, mail: { ...words.mail, manage } }
}

const urlFields = z.object({ url: z.string() })

export const slack = throughChannel(slackChannel, urlFields, ({ url }) => url)
export const discord = throughChannel(discordChannel, urlFields, ({ url }) => url)
export const teams = throughChannel(teamsChannel, urlFields, ({ url }) => url)
export const telegram = throughChannel(
  telegramChannel,
  z.object({ botToken: z.string(), chatId: z.string() }),
  (address) => address,
)
