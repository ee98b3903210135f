import { z } from 'zod'
import { requireReachableUrl } from '../../account/private-targets/rule.ts'
import type { Context } from '../../core/context.ts'
import { hashSecret } from '../../core/hash-secret.ts'
import { issueMessage } from '../../core/issue-message.ts'
import { exactlyOne, invalid } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import type { ChannelKind } from '../../generated/prisma/enums.ts'
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
 * @throws Invalid with the paths of the input, also for email without an SMTP server.
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
  return { ...address, channel, hash: addressHash(channel, address.text) }
}

/** Returns the hash by which a subscriber is looked up, because an address can be secret or too long for an index. */
export function addressHash(channel: ChannelKind, text: string): string {
  return hashSecret(`${channel} ${text}`)
}

/**
 * Checks that the host of a parsed address is one that we may reach.
 * @param organizationId the organization, if it chose the address; null: a visitor did.
 * @throws Invalid for a webhook at a private address.
 */
export async function requireReachableAddress(
  ctx: ChangeContext,
  { channel, text }: ParsedAddress,
  organizationId: string | null,
): Promise<void> {
  if (channel === 'WEBHOOK') await requireReachableUrl(ctx, text, ['webhook'], organizationId)
}
