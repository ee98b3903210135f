import { Conflict, Invalid, ManagedByFile, NotFound, RateLimited, TierLimitReached } from '../../core/errors.ts'
import { text } from '../../graphql/document/cost.ts'
import { withChoice } from '../../graphql/schema/choice.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { describedInput } from '../../graphql/schema/described-type.ts'
import { createRowResolver } from '../../graphql/schema/idempotent-mutation.ts'
import { acknowledgeAlert } from '../acknowledge.ts'
import {
  channelEdit,
  createAlertChannel,
  deleteAlertChannel,
  newChannel,
  rotateAlertChannelSecret,
  updateAlertChannel,
} from '../channel.ts'
import { addressKeys } from '../channel-address.ts'
import type { ChannelTest } from '../test-channel.ts'
import { testAlertChannel } from '../test-channel.ts'
import { Alert } from './alert.ts'
import { AlertChannel } from './alert-channel.ts'
import { builder } from './builder.ts'

const optional = (description: string) => ({ required: false, description }) as const

const MailInput = builder.inputType('AlertMailInput', {
  description: 'An email address.',
  fields: (t) => ({
    address: t.string({ description: 'The address of a person or an email-to-SMS gateway.' }),
    short: t.boolean(optional('Whether to send short plain text, which SMS gateways need. Default: false.')),
  }),
})
const UrlInput = builder.inputType('AlertUrlInput', {
  description: 'A URL that accepts messages.',
  fields: (t) => ({
    url: t.string({ description: 'The URL, which is kept secret.' }),
  }),
})
const TelegramInput = builder.inputType('AlertTelegramInput', {
  description: 'A Telegram chat and the bot that writes to it.',
  fields: (t) => ({
    botToken: t.string({ description: 'The token of your bot, from @BotFather.' }),
    chatId: t.string({ description: 'A chat that the bot may write to: its id, or the @name of a channel.' }),
  }),
})
const NtfyInput = builder.inputType('AlertNtfyInput', {
  description: 'A topic of an ntfy server.',
  fields: (t) => ({
    server: t.string(optional('The URL of the server. Default: https://ntfy.sh.')),
    topic: t.string({ description: 'The topic. Anyone who knows it can read it, unless the server protects it.' }),
    token: t.string(optional('An access token, for a protected topic.')),
  }),
})
const GotifyInput = builder.inputType('AlertGotifyInput', {
  description: 'An application of a Gotify server.',
  fields: (t) => ({
    server: t.string({ description: 'The URL of the server.' }),
    token: t.string({ description: 'The token of the application.' }),
  }),
})
const PushoverInput = builder.inputType('AlertPushoverInput', {
  description: 'A Pushover user or group.',
  fields: (t) => ({
    token: t.string({ description: 'The token of your application.' }),
    user: t.string({ description: 'The key of the user or group.' }),
    device: t.string(optional('Only this device. Default: all.')),
  }),
})
const PagerDutyInput = builder.inputType('AlertPagerDutyInput', {
  description: 'A PagerDuty service.',
  fields: (t) => ({
    routingKey: t.string({ description: 'The integration key of its Events API v2 integration.' }),
    region: t.string(optional('US or EU. Default: US.')),
  }),
})
const OpsgenieInput = builder.inputType('AlertOpsgenieInput', {
  description: 'An Opsgenie integration.',
  fields: (t) => ({
    apiKey: t.string({ description: 'The key of an API integration.' }),
    region: t.string(optional('US or EU. Default: US.')),
  }),
})
const MatrixInput = builder.inputType('AlertMatrixInput', {
  description: 'A Matrix room.',
  fields: (t) => ({
    server: t.string({ description: 'The URL of the homeserver.' }),
    roomId: t.string({ description: 'The id of the room, such as !abc:example.org.' }),
    accessToken: t.string({ description: 'The access token of a user in the room.' }),
  }),
})

const PushInput = builder.inputType('AlertPushInput', {
  description: 'The browsers in which members have turned on notifications.',
  fields: (t) => ({
    userIds: t.idList({ required: false, description: 'The members. Default: every member.' }),
  }),
})

const AlertAddressInput = builder.inputType('AlertAddressInput', {
  description: 'Where alerts are sent. A secret, except for email.',
  isOneOf: true,
  fields: (t) => ({
    mail: t.field({ type: MailInput, required: false, description: 'An email address.' }),
    webhook: t.field({ type: UrlInput, required: false, description: 'A webhook.' }),
    slack: t.field({ type: UrlInput, required: false, description: 'A Slack incoming webhook.' }),
    discord: t.field({ type: UrlInput, required: false, description: 'A Discord webhook.' }),
    teams: t.field({ type: UrlInput, required: false, description: 'A Microsoft Teams workflow.' }),
    telegram: t.field({ type: TelegramInput, required: false, description: 'A Telegram chat.' }),
    ntfy: t.field({ type: NtfyInput, required: false, description: 'A topic of an ntfy server.' }),
    gotify: t.field({ type: GotifyInput, required: false, description: 'A Gotify application.' }),
    pushover: t.field({ type: PushoverInput, required: false, description: 'A Pushover user or group.' }),
    pagerduty: t.field({ type: PagerDutyInput, required: false, description: 'A PagerDuty service.' }),
    opsgenie: t.field({ type: OpsgenieInput, required: false, description: 'An Opsgenie integration.' }),
    mattermost: t.field({ type: UrlInput, required: false, description: 'A Mattermost incoming webhook.' }),
    matrix: t.field({ type: MatrixInput, required: false, description: 'A Matrix room.' }),
    push: t.field({ type: PushInput, required: false, description: 'Browsers of members.' }),
  }),
})

const create = withChoice('address', addressKeys, createAlertChannel)
const update = withChoice('address', addressKeys, updateAlertChannel)

const CreateAlertChannelInput = describedInput(newChannel, {
  isCreation: true,
  more: (t) => ({
    address: t.field({ type: AlertAddressInput, description: 'Where alerts are sent. This decides its kind.' }),
  }),
})

builder.mutationField('createAlertChannel', (t) =>
  t.field({
    type: AlertChannel,
    description:
      'Creates an alert channel, which gets alerts about changes of monitors from now on. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: CreateAlertChannelInput }) },
    errors: { types: [Invalid, NotFound, Conflict, TierLimitReached] },
    resolve: createRowResolver('createAlertChannel', create),
  }),
)

const UpdateAlertChannelInput = describedInput(channelEdit, {
  more: (t) => ({
    address: t.field({
      type: AlertAddressInput,
      required: false,
      description: 'The new address, of the same kind, which replaces the current one.',
    }),
  }),
})

builder.mutationField('updateAlertChannel', (t) =>
  t.field({
    type: AlertChannel,
    description: 'Updates an alert channel. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: UpdateAlertChannelInput }) },
    errors: { types: [Invalid, NotFound, Conflict, ManagedByFile] },
    resolve: (_root, { input: given }, ctx) => update(ctx, given),
  }),
)

builder.mutationField('rotateAlertChannelSecret', (t) =>
  t.field({
    type: AlertChannel,
    description:
      'Rotates the signing secret of a webhook channel. For 24 hours its messages are also signed with the previous one. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, Conflict] },
    resolve: (_root, { id }, ctx) => rotateAlertChannelSecret(ctx, id),
  }),
)

const DeleteAlertChannelPayload = deletionPayload('AlertChannel')

builder.mutationField('deleteAlertChannel', (t) =>
  t.field({
    type: DeleteAlertChannelPayload,
    description: 'Deletes an alert channel with its deliveries. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, ManagedByFile] },
    resolve: (_root, { id }, ctx) => deleteAlertChannel(ctx, id),
  }),
)

const TestAlertChannelPayload = builder.objectRef<ChannelTest>('TestAlertChannelPayload').implement({
  description: 'The provider’s response to a test.',
  fields: (t) => ({
    delivered: t.exposeBoolean('delivered', { description: 'Whether the provider accepted the message.' }),
    status: t.exposeInt('status', {
      nullable: true,
      description: 'The HTTP or SMTP status; null: no response.',
    }),
    message: t.exposeString('message', { extensions: text(300) }),
    answer: t.exposeString('answer', {
      nullable: true,
      extensions: text(300),
      description: 'The text of the response, without your secrets, cut to 300 characters; null: it had none.',
    }),
  }),
})

builder.mutationField('testAlertChannel', (t) =>
  t.field({
    type: TestAlertChannelPayload,
    description:
      'Sends a test to an alert channel now, even in quiet times, and returns the provider’s response. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, RateLimited] },
    resolve: (_root, { id }, ctx) => testAlertChannel(ctx, id),
  }),
)

builder.mutationField('acknowledgeAlert', (t) =>
  t.field({
    type: Alert,
    description:
      'Acknowledges an alert, which stops its reminders and its escalation. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => acknowledgeAlert(ctx, id),
  }),
)
