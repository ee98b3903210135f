import { z } from 'zod'
import type { Context } from '../core/context.ts'
import { issueMessage } from '../core/issue-message.ts'
import { exactlyOne, invalid } from '../core/validation.ts'
import type { AlertChannelKind } from '../generated/prisma/enums.ts'
import { isMailEnabled } from '../notification/context.ts'
import type { AlertAddress } from './sender/sender.ts'
import { senders } from './senders.ts'

/** The address kind of each input field (contract §10). */
export const kindByKey = {
  mail: 'MAIL',
  webhook: 'WEBHOOK',
  slack: 'SLACK',
  discord: 'DISCORD',
  teams: 'TEAMS',
  telegram: 'TELEGRAM',
  ntfy: 'NTFY',
  gotify: 'GOTIFY',
  pushover: 'PUSHOVER',
  pagerduty: 'PAGERDUTY',
  opsgenie: 'OPSGENIE',
  mattermost: 'MATTERMOST',
  matrix: 'MATRIX',
  push: 'PUSH',
} as const satisfies Record<string, AlertChannelKind>

export type AddressKey = keyof typeof kindByKey

/** The input fields that can hold an address. */
export const addressKeys = Object.keys(kindByKey) as AddressKey[]

/** Object schema fields that `readAddress` parses. */
export const addressFields = Object.fromEntries(addressKeys.map((key) => [key, z.unknown().optional()])) as Record<
  AddressKey,
  z.ZodOptional<z.ZodUnknown>
>

/** The addresses of an input. Null counts as absent. */
export type AddressInput = { readonly [K in AddressKey]?: unknown }

/** Returns whether an input has an address. */
export const hasAddress = (input: AddressInput): boolean => addressKeys.some((key) => input[key] != null)

/**
 * Parses the single address of an input.
 * @throws Invalid with the paths of the input, also for email without an SMTP server.
 */
export function readAddress(
  { config }: Pick<Context, 'config'>,
  input: AddressInput,
): AlertAddress & { readonly kind: AlertChannelKind } {
  const key = exactlyOne(addressKeys, input)
  const kind = kindByKey[key]
  if (kind === 'MAIL' && !isMailEnabled(config))
    throw invalid([{ path: [key], message: 'is not available: email isn’t set up on this service' }])
  const parsed = senders[kind].address.safeParse(input[key], { error: issueMessage })
  if (!parsed.success) {
    throw invalid(parsed.error.issues.map(({ path, message }) => ({ path: [key, ...path.map(String)], message })))
  }
  return { kind, ...parsed.data }
}
