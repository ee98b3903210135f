import { Conflict, NotFound } from '../../errors.ts'
import { ChannelKind, DeliveryStatus } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import type { Attempt } from '../attempt.ts'
import { readAttempts } from '../attempt.ts'
import { redeliver } from '../delivery.ts'

const DeliveryAttempt = builder.objectRef<Attempt>('DeliveryAttempt').implement({
  description: 'One attempt to deliver a message.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When the attempt began.' }),
    delivered: t.exposeBoolean('delivered', { description: 'Whether the receiver accepted the message.' }),
    status: t.exposeInt('status', { nullable: true, description: 'What the receiver answered, of HTTP or SMTP.' }),
    message: t.exposeString('message'),
    durationMs: t.exposeInt('durationMs', { description: 'How long it took, in milliseconds.' }),
  }),
})

const Delivery = builder.prismaNode('Delivery', {
  id: { field: 'id' },
  nullable: true,
  description:
    'A message to a subscriber; its id is told to the receiver with each attempt. For the organization only.',
  fields: (t) => ({
    subscriber: t.relation('subscriber', { description: 'The recipient.' }),
    channel: t.expose('channel', { type: ChannelKind, description: 'The kind of channel.' }),
    event: t.prismaField({
      type: 'Event',
      nullable: true,
      description: 'What it tells of; null: of the subscription itself.',
      resolve: (query, { organizationId, seq }, _args, { db }) =>
        seq === null ? null : db.event.findUnique({ ...query, where: { organizationId_seq: { organizationId, seq } } }),
    }),
    status: t.expose('status', { type: DeliveryStatus, description: 'How far the delivery is.' }),
    attempts: t.field({
      type: [DeliveryAttempt],
      description: 'Oldest first.',
      resolve: ({ attempts }) => readAttempts(attempts),
    }),
    nextAttemptAt: t.expose('dueAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is tried next; while it is being tried, when it would be if that were lost.',
    }),
    deferredUntil: t.expose('deferredUntil', {
      type: 'DateTime',
      nullable: true,
      description:
        'Until when it had to wait because the mails of a day for your tier, or of an hour for its mailbox, were used up.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Since when it is tried.' }),
    endedAt: t.expose('endedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was delivered or given up.',
    }),
  }),
})

builder.mutationField('redeliver', (t) =>
  t.field({
    type: Delivery,
    description:
      'Sends a message again that was delivered or given up, under the same id. Needs a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, Conflict] },
    resolve: (_root, { id }, ctx) => redeliver(ctx, id),
  }),
)
