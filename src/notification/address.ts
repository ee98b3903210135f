import { z } from 'zod'
import { hashSecret } from '../account/secret.ts'
import type { Context } from '../context.ts'
import type { ChannelKind } from '../generated/prisma/enums.ts'
import { mayReach, PRIVATE_NETWORKS_HINT } from '../network/outbound/guard.ts'
import { readHost } from '../network/outbound/host.ts'
import { exactlyOne, invalid } from '../validate.ts'
import type { Address } from './channel/channel.ts'
import { channels } from './channels.ts'
import { offersMail } from './context.ts'

/** What an input calls the address of each channel. */
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

/** The part of an input that says where to. What is null is as good as absent. */
export type AddressInput = { readonly [K in AddressKey]?: unknown }

/** For an object schema: members that `readAddress` reads. */
export const addressMembers = {
  email: z.unknown().optional(),
  webhook: z.unknown().optional(),
  slack: z.unknown().optional(),
  discord: z.unknown().optional(),
  teams: z.unknown().optional(),
  telegram: z.unknown().optional(),
} satisfies Record<AddressKey, z.ZodType>

/** An address with its channel. */
export interface KnownAddress extends Address {
  readonly channel: ChannelKind
  /** What it is found by: SHA-256 in hex. */
  readonly hash: string
}

/**
 * Reads the one address that an input holds.
 * @throws Invalid with the paths of the input, also for mail where none is sent, and for a host that may not be reached.
 */
export function readAddress({ config }: Pick<Context, 'config'>, input: AddressInput): KnownAddress {
  const key = exactlyOne(keys, input)
  if (key === 'email' && !offersMail(config)) {
    throw invalid([{ path: [key], message: 'cannot be given: no mail is sent from here' }])
  }
  const channel = addressKeys[key]
  const parsed = channels[channel].address.safeParse(input[key])
  if (!parsed.success) {
    throw invalid(parsed.error.issues.map(({ path, message }) => ({ path: [key, ...path.map(String)], message })))
  }
  const address = parsed.data
  if (key === 'webhook' && !mayBeReached(address.text, config.ALLOW_PRIVATE_NETWORKS)) {
    throw invalid([{ path: [key], message: `must be at a public host; ${PRIVATE_NETWORKS_HINT}` }])
  }
  return { ...address, channel, hash: addressHash(channel, address.text) }
}

/** What a subscriber is found by: an address is too long, or too secret, to be looked for. */
export function addressHash(channel: ChannelKind, text: string): string {
  return hashSecret(`${channel} ${text}`)
}

/** Whether nothing that the URL says forbids it; what its name leads to is seen each time something is sent. */
function mayBeReached(url: string, allowPrivate: boolean): boolean {
  const host = readHost(new URL(url).hostname)
  if (host?.kind === 'address') return mayReach(host.address, allowPrivate)
  return host?.kind === 'name' || allowPrivate
}
