import { z } from 'zod'
import { readHost } from '../../network/outbound/host.ts'
import type { Outbound } from '../../network/outbound.ts'
import type { Clock } from '../../time.ts'
import type { Letter } from '../letter.ts'
import type { Mailer } from './mailer.ts'

/** Where messages go, as a channel has read it. */
export interface Address {
  /** All that sending takes; what is equal reaches the same. */
  readonly text: string
  /** What may be shown of it. */
  readonly label: string
  /** The host that is asked, or `mail`: what is spared together. */
  readonly destination: string
  /** What may not be flooded with requests to confirm: the mailbox, or the host that somebody might be behind. */
  readonly target: string
}

/** A message to one subscriber. */
export interface Message {
  /** The same at every attempt, so that a receiver can drop a second one. */
  readonly id: string
  readonly letter: Letter
  readonly address: string
  /** What webhooks are signed with, the newest first; of other channels none. */
  readonly secrets: readonly string[]
  /** Where the subscriber changes or ends the subscription. */
  readonly manageUrl: string
  /** Where a POST ends it at once (RFC 8058). */
  readonly unsubscribeUrl: string
  /** What ties the messages about one thing to one subscriber together. */
  readonly thread: string
  /** Whether it is the first of its thread. */
  readonly opensThread: boolean
}

/** What became of an attempt to send. A value, for failing is what networks do. */
export type Outcome =
  | { readonly kind: 'delivered'; readonly status: number | null; readonly message: string }
  | {
      readonly kind: 'failed'
      readonly status: number | null
      /** Without secrets: the owner of the page reads it. */
      readonly message: string
      /** PASSING may be tried again. REFUSED: this message never will be taken. GONE: nor any other at this address. */
      readonly lasts: 'PASSING' | 'REFUSED' | 'GONE'
      /** How long the receiver asks to be left alone, in milliseconds. */
      readonly retryAfterMs: number | null
    }

/** What channels send with. */
export interface SendTools {
  readonly outbound: Pick<Outbound, 'request'>
  /** Null: no mail is sent from here. */
  readonly mailer: Mailer | null
  readonly now: Clock
}

/** A way to reach subscribers. Adding one is a file and a line of `channels.ts`. */
export interface Channel {
  /** What it calls itself in sentences. */
  readonly name: string
  /** Reads an address as somebody gave it. */
  readonly address: z.ZodType<Address>
  /** Sends a message. Never rejects; ends within `SEND_TIMEOUT`. */
  send(message: Message, tools: SendTools): Promise<Outcome>
}

const LONGEST_URL = 2048

/** Reads a URL to which messages are posted, with a mistake of its own to look for. */
export function postAddress(mistakeOf: (url: URL) => string | null, target: (url: URL) => string) {
  return z
    .string()
    .trim()
    .max(LONGEST_URL, `must have at most ${LONGEST_URL} characters`)
    .transform((text, ctx): Address => {
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
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return 'must be an http:// or https:// URL'
  const { hostname, username, password, port } = new URL(text)
  if (readHost(hostname) === null) return 'must have a host name or an IP address'
  if (username !== '' || password !== '') return 'must not have a user'
  return port === '25' ? 'must not have port 25, which is for mail' : null
}

/** The path may be a secret, so no more is shown of it than tells one from another. */
function labelOf({ host, pathname, search }: URL): string {
  const rest = pathname + search
  return rest === '/' ? host : `${host}/…${rest.slice(-4)}`
}

/**
 * Reads the URL of a service's incoming webhook: at one of its hosts, or below one of them. Who knows such a URL is
 * allowed to write there, so nobody but its owner can be flooded.
 */
export function hookAddress(service: string, hosts: readonly string[]) {
  const mistakeOf = ({ protocol, hostname }: URL) => {
    const isTheirs = hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`))
    return protocol === 'https:' && isTheirs ? null : `must be a webhook URL of ${service}, at ${hosts.join(' or ')}`
  }
  return postAddress(mistakeOf, ({ href }) => href)
}
