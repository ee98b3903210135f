import { Conflict, Invalid, LimitExceeded, NotFound, RateLimited, TierLimitReached } from '../../errors.ts'
import type { Subscriber as SubscriberRow } from '../../generated/prisma/client.ts'
import { Topic } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { inputOf, REPLACED } from '../../graphql/input.ts'
import { IDEMPOTENCY_KEY } from '../../graphql/once.ts'
import { once } from '../../idempotency.ts'
import { subscribe, subscriberMemory } from '../subscribe.ts'
import {
  confirmSubscription,
  rotateWebhookSecret,
  subscriberOf,
  unsubscribe,
  updateSubscription,
} from '../subscriber.ts'
import { HOLDER, Subscriber } from './subscriber.ts'

const TelegramInput = builder.inputType('TelegramInput', {
  description: 'A Telegram chat and the bot that writes to it.',
  fields: (t) => ({
    botToken: t.string({ description: 'Of a bot of your own, from @BotFather.' }),
    chatId: t.string({ description: 'A chat that the bot may write to: its id, or the @name of a channel.' }),
  }),
})

const CHOICES = {
  topics: 'Absent: incidents and maintenance.',
  serviceIds: 'Only what bears on these, and what names no service; absent or empty: everything.',
} as const

const SubscribeInput = builder.inputType('SubscribeInput', {
  description: 'Exactly one of email, webhook, slack, discord, teams and telegram says where to.',
  fields: (t) => ({
    slug: t.string({ description: 'Of the status page.' }),
    email: t.string({ required: false, description: 'A mail address.' }),
    webhook: t.string({
      required: false,
      description: 'A URL; what is posted there is signed as Standard Webhooks says.',
    }),
    slack: t.string({ required: false, description: 'The URL of an incoming webhook.' }),
    discord: t.string({ required: false, description: 'The URL of a webhook.' }),
    teams: t.string({ required: false, description: 'The URL of a workflow that posts to a channel.' }),
    telegram: t.field({ type: TelegramInput, required: false, description: 'A Telegram chat.' }),
    topics: t.field({ type: [Topic], required: false, description: CHOICES.topics }),
    serviceIds: t.idList({ required: false, description: CHOICES.serviceIds }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

const SubscribePayload = builder
  .objectRef<{ readonly message: string; readonly subscriber: SubscriberRow | null }>('SubscribePayload')
  .implement({
    description: 'What happens next.',
    fields: (t) => ({
      message: t.exposeString('message', { description: 'What happens next, for people.' }),
      subscriber: t.expose('subscriber', {
        type: Subscriber,
        nullable: true,
        description: 'For the organization itself, whose subscribers need not confirm; null for everybody else.',
      }),
    }),
  })

builder.mutationField('subscribe', (t) =>
  t.field({
    type: SubscribePayload,
    description:
      'Subscribes an address to a status page. A message with a link to confirm goes there; the answer is the same whether it was subscribed already or not.',
    args: { input: t.arg({ type: SubscribeInput }) },
    errors: { types: [Invalid, NotFound, Conflict, LimitExceeded, RateLimited, TierLimitReached] },
    resolve: async (_root, { input }, ctx) => {
      const asked = { operation: 'subscribe', input, key: input.idempotencyKey }
      const subscriber = await once(ctx, asked, subscriberMemory(ctx), (claiming) => subscribe(claiming, input))
      const message =
        subscriber === null
          ? 'A message is on its way to the address; it holds a link that confirms the subscription within 48 hours.'
          : 'Subscribed.'
      return { message, subscriber }
    },
  }),
)

builder.queryField('subscriber', (t) =>
  t.field({
    type: Subscriber,
    nullable: true,
    grantScopes: [HOLDER],
    description: 'The subscription that a token stands for: the last part of the link in each message.',
    args: { token: t.arg.string() },
    resolve: (_root, { token }, ctx) =>
      subscriberOf(ctx, token).catch((error: unknown) => {
        if (error instanceof NotFound) return null
        throw error
      }),
  }),
)

const TOKEN = 'The last part of the link in each message.'

interface WithToken {
  readonly token: string
}

const tokenInput = (name: string, description: string) =>
  builder.inputType(name, { description, fields: (t) => ({ token: t.string({ description: TOKEN }) }) })

const ConfirmSubscriptionInput = tokenInput('ConfirmSubscriptionInput', 'Which subscription to confirm.')

builder.mutationField('confirmSubscription', (t) =>
  t.field({
    type: Subscriber,
    grantScopes: [HOLDER],
    description: 'Confirms a subscription by its token.',
    args: {
      input: t.arg({ type: ConfirmSubscriptionInput, required: false }),
      token: t.arg.string({ ...REPLACED, description: TOKEN }),
    },
    errors: { types: [Invalid, NotFound, TierLimitReached] },
    resolve: (_root, args, ctx) => confirmSubscription(ctx, inputOf<WithToken>(args, ['token']).token),
  }),
)

const UpdateSubscriptionInput = builder.inputType('UpdateSubscriptionInput', {
  description: 'All that is to be told, in place of what was chosen before.',
  fields: (t) => ({
    token: t.string({ description: TOKEN }),
    topics: t.field({ type: [Topic], required: false, description: CHOICES.topics }),
    serviceIds: t.idList({ required: false, description: CHOICES.serviceIds }),
  }),
})

builder.mutationField('updateSubscription', (t) =>
  t.field({
    type: Subscriber,
    grantScopes: [HOLDER],
    description: 'Changes what a subscriber is told of, by its token.',
    args: { input: t.arg({ type: UpdateSubscriptionInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: (_root, { input }, ctx) => updateSubscription(ctx, input),
  }),
)

const UnsubscribeInput = tokenInput('UnsubscribeInput', 'Which subscription to end.')

builder.mutationField('unsubscribe', (t) =>
  t.field({
    type: Subscriber,
    grantScopes: [HOLDER],
    description: 'Ends a subscription by its token.',
    args: {
      input: t.arg({ type: UnsubscribeInput, required: false }),
      token: t.arg.string({ ...REPLACED, description: TOKEN }),
    },
    errors: { types: [Invalid, NotFound] },
    resolve: (_root, args, ctx) => unsubscribe(ctx, inputOf<WithToken>(args, ['token']).token),
  }),
)

const RotateWebhookSecretInput = tokenInput('RotateWebhookSecretInput', 'Which webhook to give a new secret.')

builder.mutationField('rotateWebhookSecret', (t) =>
  t.field({
    type: Subscriber,
    grantScopes: [HOLDER],
    description: 'Gives a webhook a new secret, by its token; for a day messages are signed with the old one as well.',
    args: {
      input: t.arg({ type: RotateWebhookSecretInput, required: false }),
      token: t.arg.string({ ...REPLACED, description: TOKEN }),
    },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, args, ctx) => rotateWebhookSecret(ctx, inputOf<WithToken>(args, ['token']).token),
  }),
)
