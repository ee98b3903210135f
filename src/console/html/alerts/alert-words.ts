import type { AddressKey } from '../../../alerting/channel-address.ts'
import { kindByKey } from '../../../alerting/channel-address.ts'
import { senders } from '../../../alerting/senders.ts'
import type { AlertChange, AlertChannelKind, AlertSilence } from '../../../generated/prisma/enums.ts'

/** One field of a channel's address, by its name in the input. */
export interface AddressField {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly required: boolean
  readonly type?: 'email' | 'url' | 'password'
  readonly choices?: readonly { readonly value: string; readonly text: string }[]
}

const regions = [
  { value: 'US', text: 'United States' },
  { value: 'EU', text: 'Europe' },
] as const
const mailForms = [
  { value: '', text: 'Full email' },
  { value: 'true', text: 'Short text, for an SMS gateway' },
] as const
const secret = (name: string, label: string, hint?: string): AddressField => ({
  name,
  label,
  required: true,
  type: 'password',
  ...(hint !== undefined && { hint }),
})
const url = (label: string, hint: string): AddressField => ({ ...secret('url', label, hint), type: 'url' })

/** The fields of each kind's address. */
export const addressForms: Readonly<Record<AddressKey, readonly AddressField[]>> = {
  mail: [
    {
      name: 'address',
      label: 'Email address',
      required: true,
      type: 'email',
      hint: 'Or the address of an SMS gateway.',
    },
    { name: 'short', label: 'Form', required: false, choices: mailForms },
  ],
  webhook: [url('URL', 'Receives a signed POST for each alert (Standard Webhooks).')],
  slack: [url('Webhook URL', 'An incoming webhook: https://hooks.slack.com/…')],
  discord: [url('Webhook URL', 'Channel settings, Integrations, Webhooks.')],
  teams: [url('Workflow URL', 'Of a workflow that posts to a channel when a webhook request is received.')],
  telegram: [
    secret('botToken', 'Bot token', 'From @BotFather.'),
    { name: 'chatId', label: 'Chat', required: true, hint: 'The id of a chat, or the @name of a channel.' },
  ],
  ntfy: [
    { name: 'server', label: 'Server', required: false, type: 'url', hint: 'Default: https://ntfy.sh.' },
    {
      name: 'topic',
      label: 'Topic',
      required: true,
      hint: 'Anyone who knows the topic can read it, unless it is protected.',
    },
    { ...secret('token', 'Access token', 'For a protected topic.'), required: false },
  ],
  gotify: [
    { name: 'server', label: 'Server', required: true, type: 'url' },
    secret('token', 'Token of the application'),
  ],
  pushover: [
    secret('token', 'Token of the application'),
    secret('user', 'Key of the user or group'),
    { name: 'device', label: 'Device', required: false, hint: 'Default: all.' },
  ],
  pagerduty: [
    secret('routingKey', 'Integration key', 'Of an Events API v2 integration.'),
    { name: 'region', label: 'Region', required: true, choices: regions },
  ],
  opsgenie: [
    secret('apiKey', 'API key', 'Of an API integration.'),
    { name: 'region', label: 'Region', required: true, choices: regions },
  ],
  mattermost: [url('Webhook URL', 'An incoming webhook: https://chat.example.com/hooks/…')],
  matrix: [
    { name: 'server', label: 'Homeserver', required: true, type: 'url' },
    { name: 'roomId', label: 'Room', required: true, hint: 'Its id, such as !abc:example.org.' },
    secret('accessToken', 'Access token', 'Of a user in the room.'),
  ],
  // Members are selected from a list.
  push: [],
}

/** Returns the input field of a kind's address. */
export function addressKeyOf(kind: AlertChannelKind): AddressKey {
  const found = Object.entries(kindByKey).find(([, each]) => each === kind)
  // Every kind has one.
  return (found?.[0] ?? 'mail') as AddressKey
}

/** Returns the name of a kind, as a label. */
export const kindLabel = (kind: AlertChannelKind): string =>
  senders[kind].name.replace(/^./, (first) => first.toUpperCase())

/** The labels of changes where they are selected. */
export const changeChoices = [
  { value: 'DOWN', text: 'Down, or a missed heartbeat' },
  { value: 'DEGRADED', text: 'Degraded' },
  { value: 'UP', text: 'Up again' },
  { value: 'UNKNOWN', text: 'Unknown for a long time' },
  { value: 'CERTIFICATE', text: 'Certificate expires' },
  { value: 'LISTED', text: 'Listed on a blacklist' },
  { value: 'DELISTED', text: 'Delisted' },
  { value: 'WORKER_SILENT', text: 'Not probed by any worker' },
  { value: 'BUDGET_BURNING', text: 'An error budget burns too fast' },
  { value: 'BUDGET_RECOVERED', text: 'An error budget no longer burns too fast' },
] as const satisfies readonly { readonly value: AlertChange; readonly text: string }[]

/** The reasons why no one is notified of an alert. */
export const silenceWords = {
  MAINTENANCE: 'silent during maintenance',
  FLAPPING: 'flapping',
  PARENT_DOWN: 'silent: a monitor that it depends on is down',
} as const satisfies Record<AlertSilence, string>
