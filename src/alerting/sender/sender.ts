import { z } from 'zod'
import { parseUrl } from '../../core/url.ts'
import type { SendResult, SendTools } from '../../notification/channel/channel.ts'
import type { Tone } from '../../notification/content.ts'
import type { AlertItem } from '../item.ts'

/** A message to an alert channel. Texts are plain. */
export interface AlertMessage {
  /** The same for all attempts, so that a receiver can drop duplicates. */
  readonly id: string
  /** What it says; to machines exactly one. */
  readonly items: readonly [AlertItem, ...AlertItem[]]
  readonly organization: { readonly name: string; readonly slug: string; readonly timeZone: string }
  /** The name of the channel. */
  readonly channel: string
  /** The news in one line. */
  readonly title: string
  /** What there is to know, line by line. */
  readonly lines: readonly string[]
  readonly tone: Tone
  /** The link that acknowledges its alerts; null: there is nothing to acknowledge. */
  readonly acknowledgeUrl: string | null
  /** The monitor, or the list of alerts, in the console. */
  readonly url: string
  /** The settings of the channel in the console. */
  readonly settingsUrl: string
  /** What the sender's `address` gave. */
  readonly address: unknown
  /** The signing secrets of a webhook; empty for other kinds. */
  readonly secrets: readonly string[]
}

/** The address of a channel as parsed by its sender. */
export interface AlertAddress {
  /** What sending needs, as JSON. */
  readonly data: Readonly<Record<string, unknown>>
  /** The part that may be shown. */
  readonly label: string
  /** The host, or `mail`, whose limits the message counts against. */
  readonly destination: string
  /** The URL of a server that the input names; null: the sender's own. */
  readonly url: string | null
}

/** A way to reach a team. To add one, write a file and a line in `senders.ts`. */
export interface AlertSender {
  /** The name in sentences. */
  readonly name: string
  /** Whether a program reads it: then each message is about one alert and is sent at once. */
  readonly isMachine: boolean
  /** Whether its receiver opens and closes alerts itself: then it hears the end of each that it was told of, whatever it wants. */
  readonly hasLifecycle: boolean
  /** Parses an address from input. */
  readonly address: z.ZodType<AlertAddress>
  /** Sends a message. Never rejects. */
  send(message: AlertMessage, tools: SendTools): Promise<SendResult>
}

/** Defines a sender. `fields` must read back what it gave. */
export function defineSender<S extends z.ZodObject>(sender: {
  readonly name: string
  readonly kind: 'PEOPLE' | 'MACHINE' | 'LIFECYCLE'
  readonly fields: S
  readonly describe: (address: z.output<S>) => Omit<AlertAddress, 'data'>
  readonly send: (address: z.output<S>, message: AlertMessage, tools: SendTools) => Promise<SendResult>
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

/** A schema for a secret that a provider gives, in its alphabet. */
export const secretText = (pattern: RegExp, message: string) => z.string().trim().max(500).regex(pattern, message)

/** A schema for the URL of a server, without a path at its end. */
export const serverUrl = z
  .string()
  .trim()
  .max(500, 'must have at most 500 characters')
  .transform((text, ctx) => {
    const url = parseUrl(text)
    const isBare = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
    if (url !== null && isBare && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '')
    ctx.addIssue({ code: 'custom', message: 'must be the http:// or https:// URL of a server' })
    return z.NEVER
  })

/** Returns the message as plain text. */
export const bodyOf = ({ lines }: Pick<AlertMessage, 'lines'>): string => lines.join('\n')
