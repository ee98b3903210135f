import { Conflict, Invalid, LimitExceeded, NotFound, RateLimited, TierLimitReached } from '../../core/errors.ts'
import { withIdempotencyKey } from '../../core/idempotency.ts'
import type { Subscriber as SubscriberRow } from '../../generated/prisma/client.ts'
import { Topic } from '../../generated/prisma/enums.ts'
import { withChoice } from '../../graphql/schema/choice.ts'
import { IDEMPOTENCY_KEY } from '../../graphql/schema/idempotent-mutation.ts'
import { Language } from '../../language/catalogue.ts'
import { addressKeys } from '../subscriber/address.ts'
import { subscribe, subscriberSerializer } from '../subscriber/subscribe.ts'
import {
  confirmSubscription,
  rotateWebhookSecret,
  subscriberByToken,
  unsubscribe,
  updateSubscription,
} from '../subscriber/subscriber.ts'
import { builder } from './builder.ts'
import { HOLDER, Subscriber } from './subscriber.ts'

const TelegramInput = builder.inputType('TelegramInput', {
  description: 'A Telegram chat and the bot that writes to it.',
  fields: (t) => ({
    botToken: t.string({ description: 'The token of your bot, from @BotFather.' }),
    chatId: t.string({ description: 'A chat that the bot may write to: its id, or the @name of a channel.' }),
  }),
})

const CHOICES = {
  topics: 'The topics of notifications. Default: incidents and maintenance.',
  serviceIds: 'Limits notifications to these services, and to those about no service. Default: all services.',
} as const

const SubscriberAddressInput = builder.inputType('SubscriberAddressInput', {
  description: 'Where a subscriber is reached.',
  isOneOf: true,
  fields: (t) => ({
    email: t.string({ required: false, description: 'An email address.' }),
    webhook: t.string({
      required: false,
      description: 'The URL of a webhook. Messages are signed according to Standard Webhooks.',
    }),
    slack: t.string({ required: false, description: 'The URL of an incoming webhook.' }),
    discord: t.string({ required: false, description: 'The URL of a webhook.' }),
    teams: t.string({ required: false, description: 'The URL of a workflow that posts to a channel.' }),
    telegram: t.field({ type: TelegramInput, required: false, description: 'A Telegram chat.' }),
  }),
})

const SubscribeInput = builder.inputType('SubscribeInput', {
  description: 'The address, and what it is notified of.',
  fields: (t) => ({
    slug: t.string({ description: 'The slug of the status page.' }),
    address: t.field({ type: SubscriberAddressInput, description: 'The address to subscribe.' }),
    topics: t.field({ type: [Topic], required: false, description: CHOICES.topics }),
    serviceIds: t.idList({ required: false, description: CHOICES.serviceIds }),
    incidentId: t.id({
      required: false,
      description: 'Only updates of this open incident, until it is resolved, and of the topics, if any are given.',
    }),
    language: t.field({
      type: Language,
      required: false,
      description: 'The language of messages. Default, and if the page does not offer it: the language of the page.',
    }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

const subscribeAddress = withChoice('address', Object.keys(addressKeys), subscribe)

const SubscribePayload = builder
  .objectRef<{ readonly message: string; readonly subscriber: SubscriberRow | null }>('SubscribePayload')
  .implement({
    description: 'The result of a subscription request.',
    fields: (t) => ({
      message: t.exposeString('message', { description: 'A human-readable next step.' }),
      subscriber: t.expose('subscriber', {
        type: Subscriber,
        nullable: true,
        description:
          'The subscriber, for a caller with a key of the organization: it needs no confirmation. Null for other callers.',
      }),
    }),
  })

builder.mutationField('subscribe', (t) =>
  t.field({
    type: SubscribePayload,
    description:
      'Subscribes an address to a status page. Sends a confirmation link to it. The response does not reveal whether it was already subscribed.',
    args: { input: t.arg({ type: SubscribeInput }) },
    errors: { types: [Invalid, NotFound, Conflict, LimitExceeded, RateLimited, TierLimitReached] },
    resolve: async (_root, { input }, ctx) => {
      const request = { operation: 'subscribe', input, key: input.idempotencyKey }
      const subscriber = await withIdempotencyKey(ctx, request, subscriberSerializer(ctx), (claiming) =>
        subscribeAddress(claiming, input),
      )
      const message =
        subscriber === null ? 'We sent a confirmation link to this address. It is valid for 48 hours.' : 'Subscribed.'
      return { message, subscriber }
    },
  }),
)

builder.queryField('subscriber', (t) =>
  t.field({
    type: Subscriber,
    nullable: true,
    grantScopes: [HOLDER],
    description: 'The subscription with this token, which is the last part of the link in each message.',
    args: { token: t.arg.string() },
    resolve: (_root, { token }, ctx) =>
      subscriberByToken(ctx, token).catch((error: unknown) => {
        if (error instanceof NotFound) return null
        throw error
      }),
  }),
)

const TOKEN = 'The last part of the link in each message.'

const tokenInput = (name: string, description: string) =>
  builder.inputType(name, { description, fields: (t) => ({ token: t.string({ description: TOKEN }) }) })

const ConfirmSubscriptionInput = tokenInput('ConfirmSubscriptionInput', 'The subscription to confirm.')

builder.mutationField('confirmSubscription', (t) =>
  t.field({
    type: Subscriber,
    grantScopes: [HOLDER],
    description: 'Confirms a subscription by its token.',
    args: { input: t.arg({ type: ConfirmSubscriptionInput }) },
    errors: { types: [Invalid, NotFound, TierLimitReached] },
    resolve: (_root, { input: { token } }, ctx) => confirmSubscription(ctx, token),
  }),
)

const UpdateSubscriptionInput = builder.inputType('UpdateSubscriptionInput', {
  description: 'The new preferences, which replace the previous ones.',
  fields: (t) => ({
    token: t.string({ description: TOKEN }),
    topics: t.field({ type: [Topic], required: false, description: CHOICES.topics }),
    serviceIds: t.idList({ required: false, description: CHOICES.serviceIds }),
    language: t.field({
      type: Language,
      required: false,
      description: 'The language of messages. Default: unchanged.',
    }),
  }),
})

builder.mutationField('updateSubscription', (t) =>
  t.field({
    type: Subscriber,
    grantScopes: [HOLDER],
    description: 'Replaces the preferences of a subscriber, by its token.',
    args: { input: t.arg({ type: UpdateSubscriptionInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: (_root, { input }, ctx) => updateSubscription(ctx, input),
  }),
)

const UnsubscribeInput = tokenInput('UnsubscribeInput', 'The subscription to end.')

builder.mutationField('unsubscribe', (t) =>
  t.field({
    type: Subscriber,
    grantScopes: [HOLDER],
    description: 'Ends a subscription by its token.',
    args: { input: t.arg({ type: UnsubscribeInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: (_root, { input: { token } }, ctx) => unsubscribe(ctx, token),
  }),
)

const RotateWebhookSecretInput = tokenInput('RotateWebhookSecretInput', 'The webhook whose secret to replace.')

builder.mutationField('rotateWebhookSecret', (t) =>
  t.field({
    type: Subscriber,
    grantScopes: [HOLDER],
    description: 'Rotates the secret of a webhook, by its token. For a day, messages are also signed with the old one.',
    args: { input: t.arg({ type: RotateWebhookSecretInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input: { token } }, ctx) => rotateWebhookSecret(ctx, token),
  }),
)
