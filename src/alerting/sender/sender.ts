import { z } from 'zod'
import { fitText } from '../../core/markdown/html-text.ts'
import { parseUrl } from '../../core/url.ts'
import { trimmedText } from '../../core/validation.ts'
import type { SendResult, SendTools } from '../../notification/channel/channel.ts'
import type { Tone } from '../../notification/content/content.ts'
import type { MemberPush } from '../../notification/push/member-push.ts'
import type { AlertItem } from './item.ts'

/** A message to an alert channel. All texts are plain. */
export interface AlertMessage {
  /** The same for all attempts, so that a receiver can drop duplicates. */
  readonly id: string
  /** The alerts that the message reports; a message to a program has exactly one. */
  readonly items: readonly [AlertItem, ...AlertItem[]]
  readonly organization: {
    readonly id: string
    readonly name: string
    readonly slug: string
    readonly timeZone: string
  }
  /** The name of the channel. */
  readonly channel: string
  /** What changed, in one line. */
  readonly title: string
  /** The details, line by line. */
  readonly lines: readonly string[]
  readonly tone: Tone
  /** The link that acknowledges the alerts; null: none of them can be acknowledged. */
  readonly acknowledgeUrl: string | null
  /** The console page of the monitor, or of all alerts. */
  readonly url: string
  /** The console page of the channel's settings. */
  readonly settingsUrl: string
  /** The parsed `data` of the sender's `address`. */
  readonly address: unknown
  /** The signing secrets of a webhook; empty for other kinds. */
  readonly secrets: readonly string[]
}

/** The address of a channel as parsed by its sender. */
export interface AlertAddress {
  /** The data that sending needs, as JSON. */
  readonly data: Readonly<Record<string, unknown>>
  /** The address as shown on screens, without secrets. */
  readonly label: string
  /** The key of the rate limits that apply: a host, or `mail`. */
  readonly destination: string
  /** The URL of the server if the input gives one; null: the sender's own server. */
  readonly url: string | null
}

/** The clients through which senders send. */
export interface AlertTools extends SendTools {
  /** Sends to the browsers of members. Absent in processes that send to none. */
  readonly push?: MemberPush
}

/** A way to reach a team. To add one, write a file and add it to `senders.ts`. */
export interface AlertSender {
  /** The name in running text. */
  readonly name: string
  /** Whether a program receives the messages. Each message then has one alert and is sent immediately. */
  readonly isMachine: boolean
  /** Whether the receiver keeps alerts open itself. It then always gets the end of an alert that it opened. */
  readonly hasLifecycle: boolean
  /** Parses an address from input. */
  readonly address: z.ZodType<AlertAddress>
  /** Sends a message. Never rejects. */
  send(message: AlertMessage, tools: AlertTools): Promise<SendResult>
}

/** Defines a sender. `fields` must also accept its own output. */
export function defineSender<S extends z.ZodObject>(sender: {
  readonly name: string
  readonly kind: 'PEOPLE' | 'MACHINE' | 'LIFECYCLE'
  readonly fields: S
  readonly describe: (address: z.output<S>) => Omit<AlertAddress, 'data'>
  readonly send: (address: z.output<S>, message: AlertMessage, tools: AlertTools) => Promise<SendResult>
}): AlertSender {
  const { name, kind, fields, describe, send } = sender
  return {
    name,
    isMachine: kind !== 'PEOPLE',
    hasLifecycle: kind === 'LIFECYCLE',
    address: fields.transform((data): AlertAddress => ({ data, ...describe(data) })),
    send: async (message, tools) => send(fields.parse(message.address), message, tools),
  }
}

/** A schema for a provider's secret, in its alphabet. */
export const secretText = (pattern: RegExp, message: string) => z.string().trim().max(500).regex(pattern, message)

/** A schema for the URL of a server, without a trailing slash. */
export const serverUrl = trimmedText(500).transform((text, ctx) => {
  const url = parseUrl(text)
  const isBare = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (url !== null && isBare && /^https?:$/.test(url.protocol)) return url.href.replace(/(?<!\/)\/+$/, '')
  ctx.addIssue({ code: 'custom', message: 'must be the http:// or https:// URL of a server' })
  return z.NEVER
})

/**
 * Returns the details of a message as plain text. If they are too long, the reason of a single alert is cut, so that its times stay;
 * of several alerts, the first ones are listed and the others counted.
 * @param most the maximum length; absent: no limit.
 * @param lengthOf the length as the receiver counts it; default: UTF-16 units.
 */
export function bodyOf(
  { lines, items }: Pick<AlertMessage, 'lines' | 'items'>,
  most = Number.POSITIVE_INFINITY,
  lengthOf = (text: string) => text.length,
): string {
  const fits = (text: string) => lengthOf(text) <= most
  const whole = lines.join('\n')
  if (fits(whole)) return whole
  const [reason = '', ...others] = lines
  const cut = (text: string) => [text, ...others].join('\n')
  if (items.length === 1) return fitText(reason, cut, fits) || fitText(whole, (text) => text, fits)
  for (let count = lines.length - 1; count > 0; count--) {
    const listed = [...lines.slice(0, count), `… and ${lines.length - count} more`].join('\n')
    if (fits(listed)) return listed
  }
  return fitText(whole, (text) => text, fits)
}

/** Returns the length of a text in bytes, in UTF-8. */
export const byteLength = (text: string): number => Buffer.byteLength(text)
