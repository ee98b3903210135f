import { z } from 'zod'
import type { Clock } from '../../core/time.ts'
import { parseUrl } from '../../core/url.ts'
import { trimmedText } from '../../core/validation.ts'
import { urlHostProblem } from '../../network/outbound/host.ts'
import type { Outbound } from '../../network/outbound/outbound.ts'
import { portRefusal } from '../../network/outbound/port-policy.ts'
import type { NotificationContent } from '../content/content.ts'
import type { Mailer } from './mailer.ts'

/** An address as parsed by its channel. */
export interface Address {
  /** The data that sending needs, as text. Equal texts reach the same receiver. */
  readonly text: string
  /** The address as shown on screens, without secrets. */
  readonly label: string
  /** The key of the rate limits that apply: a host, or `mail`. */
  readonly destination: string
  /** The mailbox or host whose confirmation messages are limited. */
  readonly target: string
}

/** A message to one subscriber. */
export interface Message {
  /** The same for all attempts, so that a receiver can drop duplicates. */
  readonly id: string
  readonly content: NotificationContent
  readonly address: string
  /** The signing secrets of a webhook, newest first; empty for other channels. */
  readonly secrets: readonly string[]
  /** The page to change or end the subscription. */
  readonly manageUrl: string
  /** A POST to this URL ends the subscription at once (RFC 8058). */
  readonly unsubscribeUrl: string
  /** The thread of messages about one subject to one subscriber. */
  readonly thread: string
  /** Whether it is the first message of its thread. */
  readonly opensThread: boolean
}

/** The outcome of an attempt to send. A value instead of an exception, since network failures are expected. */
export type SendOutcome = (
  | { readonly kind: 'delivered'; readonly status: number | null; readonly message: string }
  | {
      readonly kind: 'failed'
      readonly status: number | null
      /** Without secrets, because the organization can read it. */
      readonly message: string
      /**
       * TEMPORARY: the delivery is retried. REFUSED: the receiver never accepts this message. GONE: it no longer
       * accepts any message.
       */
      readonly permanence: 'TEMPORARY' | 'REFUSED' | 'GONE'
      /** For email: whether only the operator can mend the cause, which would fail any email. Then it is `TEMPORARY`. */
      readonly isOurs?: boolean
      /** The receiver's `Retry-After` in milliseconds. */
      readonly retryAfterMs: number | null
    }
) & {
  /** The address to which the receiver has moved, as it says itself; absent: it has not moved. */
  readonly movedTo?: Address
}

/** The result of sending. `postponed`: nothing was sent, because the destination is at its limit. */
export type SendResult = SendOutcome | { readonly kind: 'postponed' }

/** The result of a message that an internal error kept from being rendered or sent. The caller logs the error. */
export const internalFailure: SendOutcome = {
  kind: 'failed',
  status: null,
  message: 'Not sent because of an internal error, which was logged.',
  permanence: 'TEMPORARY',
  retryAfterMs: null,
}

/** The clients through which channels send. */
export interface SendTools {
  readonly outbound: Pick<Outbound, 'request'>
  /** Null if email is not set up. */
  readonly mailer: Mailer | null
  readonly now: Clock
}

/** A way to reach subscribers. To add one, write a file and add it to `channels.ts`. */
export interface Channel {
  /** The name in running text. */
  readonly name: string
  /** Parses an address from input. */
  readonly address: z.ZodType<Address>
  /** Sends a message. Never rejects; ends within `SEND_TIMEOUT`. */
  send(message: Message, tools: SendTools): Promise<SendResult>
}

const MAX_URL_LENGTH = 2048

/** Returns a schema for a URL to which messages are posted, with an additional check for a common mistake. */
export function webhookAddress(mistakeOf: (url: URL) => string | null, target: (url: URL) => string) {
  return trimmedText(MAX_URL_LENGTH).transform((text, ctx): Address => {
    const mistake = urlMistake(text) ?? mistakeOf(new URL(text))
    if (mistake !== null) {
      ctx.addIssue({ code: 'custom', message: mistake })
      return z.NEVER
    }
    const url = new URL(text)
    url.hash = ''
    return { text: url.href, label: labelOf(url), destination: url.host, target: target(url) }
  })
}

function urlMistake(text: string): string | null {
  const url = parseUrl(text)
  const problem = urlHostProblem(text)
  if (url === null && problem !== null) return problem
  if (!/^https?:\/\//i.test(text) || url === null) return 'must be an http:// or https:// URL'
  if (problem !== null) return problem
  const { username, password, port } = url
  if (username !== '' || password !== '') return 'must not have a user'
  const refusal = portRefusal(Number(port), 'application')
  return refusal === null ? null : `must not have ${refusal}`
}

/** Returns the host and the last characters, because the path may be a secret. */
function labelOf({ host, pathname, search }: URL): string {
  const rest = pathname + search
  return rest === '/' ? host : `${host}/…${rest.slice(-4)}`
}

/**
 * Returns a schema for the URL of a service's incoming webhook, at one of its hosts or their subdomains. Only the owner
 * of a channel knows its URL, so no one else can be flooded.
 */
export function incomingWebhookAddress(service: string, hosts: readonly string[]) {
  const mistakeOf = ({ protocol, hostname }: URL) => {
    const isTheirs = hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`))
    return protocol === 'https:' && isTheirs ? null : `must be a webhook URL of ${service}, at ${hosts.join(' or ')}`
  }
  return webhookAddress(mistakeOf, ({ href }) => href)
}
