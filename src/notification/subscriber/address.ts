import { z } from 'zod'
import type { Context } from '../../core/context.ts'
import { hashSecret } from '../../core/hash-secret.ts'
import { issueMessage } from '../../core/issue-message.ts'
import { exactlyOne, invalid } from '../../core/validation.ts'
import type { ChannelKind } from '../../generated/prisma/enums.ts'
import { mayReach, PRIVATE_NETWORKS_HINT } from '../../network/outbound/destination-policy.ts'
import { readHost } from '../../network/outbound/host.ts'
import type { Address } from '../channel/channel.ts'
import { channels } from '../channels.ts'
import { isMailEnabled } from '../context.ts'

/** The input field of each channel's address. */
export const addressKeys = {
  email: 'EMAIL',
  webhook: 'WEBHOOK',
  slack: 'SLACK',
  discord: 'DISCORD',
  teams: 'TEAMS',
  telegram: 'TELEGRAM',
} as const satisfies Record<string, ChannelKind>

type AddressKey = keyof typeof addressKeys

const keys = Object.keys(addressKeys) as AddressKey[]

/** The address fields of an input. Null counts as absent. */
export type AddressInput = { readonly [K in AddressKey]?: unknown }

/** Object schema fields that `readAddress` reads. */
export const addressFields = {
  email: z.unknown().optional(),
  webhook: z.unknown().optional(),
  slack: z.unknown().optional(),
  discord: z.unknown().optional(),
  teams: z.unknown().optional(),
  telegram: z.unknown().optional(),
} satisfies Record<AddressKey, z.ZodType>

/** An address and its channel. */
export interface ParsedAddress extends Address {
  readonly channel: ChannelKind
  /** SHA-256 in hex, by which the subscriber is looked up. */
  readonly hash: string
}

/**
 * Parses the single address of an input.
 * @throws Invalid with the paths of the input, also for email without an SMTP server and for a private host.
 */
export function readAddress({ config }: Pick<Context, 'config'>, input: AddressInput): ParsedAddress {
  const key = exactlyOne(keys, input)
  if (key === 'email' && !isMailEnabled(config)) {
    throw invalid([{ path: [key], message: 'is not available: email isn’t set up on this service' }])
  }
  const channel = addressKeys[key]
  const parsed = channels[channel].address.safeParse(input[key], { error: issueMessage })
  if (!parsed.success) {
    throw invalid(parsed.error.issues.map(({ path, message }) => ({ path: [key, ...path.map(String)], message })))
  }
  const address = parsed.data
  if (key === 'webhook' && !isAllowedUrl(address.text, config.ALLOW_PRIVATE_NETWORKS)) {
    throw invalid([{ path: [key], message: `must be at a public host; ${PRIVATE_NETWORKS_HINT}` }])
  }
  return { ...address, channel, hash: addressHash(channel, address.text) }
}

/** Returns the hash by which a subscriber is looked up, because an address can be secret or too long for an index. */
export function addressHash(channel: ChannelKind, text: string): string {
  return hashSecret(`${channel} ${text}`)
}

/** Returns whether the URL itself is allowed. The addresses of its host name are checked on every request. */
export function isAllowedUrl(url: string, allowPrivate: boolean): boolean {
  const host = readHost(new URL(url).hostname)
  if (host?.kind === 'address') return mayReach(host.address, allowPrivate)
  return host?.kind === 'name' || allowPrivate
}
