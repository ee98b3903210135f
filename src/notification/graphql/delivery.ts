import { Conflict, NotFound } from '../../core/errors.ts'
import { ChannelKind, DeliveryStatus } from '../../generated/prisma/enums.ts'
import { costs, text } from '../../graphql/document/cost.ts'
import { readTogether } from '../../graphql/execution/loader.ts'
import { redeliver } from '../delivery/delivery.ts'
import type { Attempt } from '../queue/attempt.ts'
import { readAttempts } from '../queue/attempt.ts'
import { builder } from './builder.ts'

const MOST_ATTEMPTS = 50

const DeliveryAttempt = builder.objectRef<Attempt>('DeliveryAttempt').implement({
  description: 'One attempt to deliver a message.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When the attempt began.' }),
    delivered: t.exposeBoolean('delivered', { description: 'Whether the receiver accepted the message.' }),
    status: t.exposeInt('status', { nullable: true, description: 'The receiver’s HTTP or SMTP status.' }),
    message: t.exposeString('message', { extensions: text(300) }),
    durationMs: t.exposeInt('durationMs', { description: 'How long the attempt took, in milliseconds.' }),
  }),
})

const Delivery = builder.prismaNode('Delivery', {
  id: { field: 'id' },
  nullable: true,
  description: 'A message to a subscriber. All attempts have the same id. Visible to the organization only.',
  fields: (t) => ({
    subscriber: t.relation('subscriber', { description: 'The recipient.' }),
    channel: t.expose('channel', { type: ChannelKind, description: 'The kind of channel.' }),
    event: t.prismaField({
      type: 'Event',
      nullable: true,
      description: 'The announced event; null: the message is about the subscription.',
      resolve: (query, { organizationId, seq }, _args, ctx) => {
        if (seq === null) return null
        const where = { organizationId_seq: { organizationId, seq } }
        return readTogether(ctx, () => ctx.db.event.findUnique({ ...query, where }))
      },
    }),
    status: t.expose('status', { type: DeliveryStatus, description: 'The status of the delivery.' }),
    attempts: t.field({
      type: [DeliveryAttempt],
      extensions: costs({ items: MOST_ATTEMPTS }),
      description: 'The last fifty attempts, oldest first.',
      resolve: ({ attempts }) => readAttempts(attempts).slice(-MOST_ATTEMPTS),
    }),
    nextAttemptAt: t.expose('dueAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next attempt starts. During an attempt, when another would start if its worker crashed.',
    }),
    deferredUntil: t.expose('deferredUntil', {
      type: 'DateTime',
      nullable: true,
      description:
        'Until when it was deferred, because the daily email quota of your tier or the hourly quota of the mailbox was used up.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the delivery was created.' }),
    endedAt: t.expose('endedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was delivered, canceled or given up.',
    }),
  }),
})

builder.mutationField('redeliver', (t) =>
  t.field({
    type: Delivery,
    description: 'Sends a delivered or given-up message again, with the same id. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, Conflict] },
    resolve: (_root, { id }, ctx) => redeliver(ctx, id),
  }),
)
