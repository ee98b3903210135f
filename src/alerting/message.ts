import { createHmac } from 'node:crypto'
import { hashSecret } from '../core/hash-secret.ts'
import { typeOfId } from '../core/id.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { AlertChannel, AlertDelivery, Organization } from '../generated/prisma/client.ts'
import type { AlertChange } from '../generated/prisma/enums.ts'
import { wordsOf } from '../language/catalogue.ts'
import { durationInWords } from '../monitoring/uptime/duration.ts'
import type { Tone } from '../notification/content/content.ts'
import { timeIn } from '../notification/content/content.ts'
import type { AlertItem } from './sender/item.ts'
import { isOver } from './sender/item.ts'
import type { AlertMessage } from './sender/sender.ts'

/** The path of the acknowledgement pages, which need no login. The token follows it. */
export const ACKNOWLEDGE_PATH = '/alerts'

/** The rows from which a message is built. */
export interface MessageParts {
  readonly delivery: Pick<AlertDelivery, 'id'>
  readonly items: readonly [AlertItem, ...AlertItem[]]
  readonly channel: Pick<AlertChannel, 'id' | 'name' | 'address' | 'secret' | 'formerSecret' | 'formerSecretUntil'>
  readonly organization: Pick<Organization, 'id' | 'name' | 'slug' | 'timeZone'>
}

/** Derives the token of a delivery's link. Only its hash is stored. */
function acknowledgeToken(seal: SecretBox, deliveryId: string): string {
  return createHmac('sha256', seal.keyFor('alert acknowledgements')).update(deliveryId).digest('base64url')
}

/** Returns the hash under which a delivery's token is stored. */
export const acknowledgeTokenHash = (seal: SecretBox, deliveryId: string) =>
  hashSecret(acknowledgeToken(seal, deliveryId))

/** Returns whether a text has the form of a token. Other texts are not looked up. */
export const isAcknowledgeToken = (text: string) => /^[-\w]{43}$/.test(text)

/** Returns the purpose for which the address of a channel is sealed. */
export const sealedAddress = (id: string) => `${id} alert address`

/** Returns the purpose for which the signing secret of a channel is sealed. */
export const sealedSecret = (id: string) => `${id} alert secret`

/**
 * Returns the secrets that sign a channel's messages, newest first; after a rotation this includes the previous one for a while.
 */
function signingSecrets(
  seal: SecretBox,
  { id, secret, formerSecret, formerSecretUntil }: MessageParts['channel'],
  now: Date,
): string[] {
  const former = formerSecretUntil !== null && now < formerSecretUntil ? formerSecret : null
  return [secret, former].flatMap((sealed) => (sealed === null ? [] : [seal.open(sealed, sealedSecret(id))]))
}

/** Renders the message of a delivery. @param baseUrl our public URL, without a trailing slash. */
export function buildMessage(parts: MessageParts, seal: SecretBox, baseUrl: string, now: Date): AlertMessage {
  const { delivery, items, channel, organization } = parts
  const [first, ...others] = items
  const console = `${baseUrl}/console/${organization.slug}`
  const time = timeIn(organization.timeZone, wordsOf('EN'))
  const isOpen = items.some((item) => !isOver(item) && item.by === null)
  return {
    id: delivery.id,
    items,
    organization,
    channel: channel.name,
    title: titleOf(items),
    lines:
      others.length === 0
        ? detailsOf(first, time)
        : items.map(
            (item) => `${summaryOf(item)}${item.message === '' ? '' : ` (${item.message})`}, ${time(item.since)}`,
          ),
    tone: toneOf(items),
    acknowledgeUrl: isOpen ? `${baseUrl}${ACKNOWLEDGE_PATH}/${acknowledgeToken(seal, delivery.id)}` : null,
    url:
      others.length === 0 && first.monitor.id !== ''
        ? `${console}/${subjectPath(first.monitor.id)}`
        : `${console}/alerts`,
    settingsUrl: `${console}/alerts/channels/${channel.id}`,
    address: JSON.parse(seal.open(channel.address, sealedAddress(channel.id))),
    secrets: signingSecrets(seal, channel, now),
  }
}

/** Returns the console path of an alert's subject, relative to the organization. */
export const subjectPath = (id: string): string =>
  typeOfId(id) === 'Objective' ? `objectives/${id}` : `monitors/${id}`

/** The maximum number of monitors that a title names. */
const MAX_NAMED = 3

/** Returns the title: what changed, and which monitors or how many of them. */
function titleOf(items: readonly [AlertItem, ...AlertItem[]]): string {
  const [first, ...others] = items
  if (others.length === 0) return summaryOf(first)
  const groups = new Map<string, string[]>()
  for (const item of items) {
    const name = item.about === 'FLAPPING' ? 'Flapping' : changeWords[item.change]
    groups.set(name, [...(groups.get(name) ?? []), item.monitor.name])
  }
  return [...groups]
    .map(([name, monitors]) =>
      monitors.length > MAX_NAMED ? `${name}: ${monitors.length} monitors` : `${name}: ${monitors.join(', ')}`,
    )
    .join(' · ')
}

/** Describes an item in a few words. */
function summaryOf({ about, change, monitor: { name }, count, by }: AlertItem): string {
  switch (about) {
    case 'CHANGE':
      return `${changeWords[change]}: ${name}`
    case 'FLAPPING':
      return `Flapping: ${name} failed ${count} times`
    case 'REMINDER':
      return `Still ${changeWords[change].toLowerCase()}: ${name}`
    case 'ESCALATION':
      return `Not acknowledged: ${changeWords[change].toLowerCase()}: ${name}`
    case 'ACKNOWLEDGED':
      return `Acknowledged by ${by ?? 'a team member'}: ${name}`
    case 'CLOSED':
      return `Closed: ${name}`
    case 'TEST':
      return 'Test: alerts reach this channel'
  }
}

function detailsOf(item: AlertItem, time: (at: Date) => string): string[] {
  const { about, change, message, since, lastedMs, count, by } = item
  if (about === 'TEST') return [message]
  return [
    ...(message === '' ? [] : [message]),
    `Since ${time(since)}`,
    ...(lastedMs === null ? [] : [`${isOver(item) ? 'It lasted' : 'For'} ${durationInWords(lastedMs)}`]),
    ...(count > 1 ? [`It failed ${count} times`] : []),
    ...(by === null || about === 'ACKNOWLEDGED' ? [] : [`Acknowledged by ${by}`]),
    ...(change === 'WORKER_SILENT' ? ['No worker probes it: check your Allclear workers.'] : []),
  ]
}

/** The name of each change in titles. */
export const changeWords = {
  DOWN: 'Down',
  DEGRADED: 'Degraded',
  UP: 'Up',
  UNKNOWN: 'Unknown',
  CERTIFICATE: 'Certificate expires',
  LISTED: 'Listed',
  DELISTED: 'Delisted',
  WORKER_SILENT: 'Not probed',
  BUDGET_BURNING: 'Error budget burns',
  BUDGET_RECOVERED: 'Error budget steady',
} as const satisfies Record<AlertChange, string>

const tones = {
  DOWN: 'major',
  LISTED: 'major',
  WORKER_SILENT: 'major',
  DEGRADED: 'minor',
  CERTIFICATE: 'minor',
  UNKNOWN: 'minor',
  UP: 'good',
  DELISTED: 'good',
  BUDGET_BURNING: 'minor',
  BUDGET_RECOVERED: 'good',
} as const satisfies Record<AlertChange, Tone>

const order: readonly Tone[] = ['major', 'minor', 'neutral', 'planned', 'good']

/** Returns the tone of the worst item. */
function toneOf(items: readonly AlertItem[]): Tone {
  const found = new Set(
    items.map(({ about, change }): Tone => {
      if (about === 'TEST' || about === 'ACKNOWLEDGED' || about === 'CLOSED') return 'neutral'
      return tones[change]
    }),
  )
  return order.find((tone) => found.has(tone)) ?? 'neutral'
}
