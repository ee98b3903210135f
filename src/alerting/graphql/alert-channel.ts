import { hasScope } from '../../core/access.ts'
import type {
  AlertChannel as AlertChannelRow,
  AlertDelivery as AlertDeliveryRow,
} from '../../generated/prisma/client.ts'
import { AlertChange, AlertChannelKind, DeliveryStatus } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/connection.ts'
import { costs, rows, text } from '../../graphql/cost.ts'
import { orderOf, pageOf } from '../../graphql/keyset.ts'
import { readAttempts } from '../../notification/attempt.ts'
import { MAX_SERVICES } from '../../status/ownership.ts'
import { quietHoursInput, signingSecret } from '../channel.ts'

/** The deliveries of a channel that are read. */
const MAX_DELIVERIES = 20

type QuietHours = NonNullable<ReturnType<typeof quietHoursInput>>

const QuietHoursRef = builder.objectRef<QuietHours>('QuietHours').implement({
  description: 'Hours in which a channel is left in peace: what comes then waits until they end.',
  fields: (t) => ({
    from: t.exposeString('from', { description: 'When they begin, such as 22:00.' }),
    to: t.exposeString('to', { description: 'When they end; before `from`: the next day.' }),
    timeZone: t.exposeString('timeZone', { description: 'The time zone of both.' }),
  }),
})

const AlertDelivery = builder.objectRef<AlertDeliveryRow>('AlertDelivery').implement({
  description: 'A message to an alert channel, with the answer of its last attempt.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Each attempt carries it.' }),
    status: t.expose('status', { type: DeliveryStatus, description: 'The status of the delivery.' }),
    attempts: t.int({
      description: 'How many attempts were made.',
      resolve: ({ attempts }) => readAttempts(attempts).length,
    }),
    answer: t.string({
      nullable: true,
      extensions: text(600),
      description: 'What the receiver answered to the last attempt; null: there was none.',
      resolve: ({ attempts }) => readAttempts(attempts).at(-1)?.message ?? null,
    }),
    nextAttemptAt: t.expose('dueAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next attempt starts.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    endedAt: t.expose('endedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was delivered or given up.',
    }),
  }),
})

/** An alert channel. */
export const AlertChannel = builder.prismaNode('AlertChannel', {
  id: { field: 'id' },
  nullable: true,
  description: 'Where the team gets alerts about its monitors. Visible to the organization only.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The channel’s name.' }),
    kind: t.expose('kind', { type: AlertChannelKind, description: 'How it reaches the team.' }),
    address: t.exposeString('label', { description: 'A form of the address that identifies it, without secrets.' }),
    when: t.expose('changes', {
      type: [AlertChange],
      extensions: costs({ items: Object.keys(AlertChange).length }),
      description: 'What it is notified of.',
    }),
    monitors: t.prismaField({
      type: ['Monitor'],
      extensions: rows(MAX_SERVICES),
      description: 'The chosen monitors. Neither monitors nor services: it is notified of all.',
      resolve: (query, { organizationId, monitorIds }, _args, { db }) =>
        db.monitor.findMany({ ...query, where: { organizationId, id: { in: monitorIds } }, orderBy: { id: 'asc' } }),
    }),
    services: t.prismaField({
      type: ['Service'],
      extensions: rows(MAX_SERVICES),
      description: 'The chosen services, of whose monitors it is notified.',
      resolve: (query, { organizationId, serviceIds }, _args, { db }) =>
        db.service.findMany({
          ...query,
          where: { organizationId, id: { in: serviceIds } },
          orderBy: [{ position: 'asc' }, { id: 'asc' }],
        }),
    }),
    remindAfterMinutes: t.exposeInt('remindAfterMinutes', {
      nullable: true,
      description: 'How often it is reminded of an alert that nobody has acknowledged; null: never.',
    }),
    // An id: through the channel, a small query could ask for a circle.
    escalateToId: t.exposeID('escalateToId', {
      nullable: true,
      description: 'The channel that is notified when nobody acknowledges an alert; null: none.',
    }),
    escalateAfterMinutes: t.exposeInt('escalateAfterMinutes', {
      nullable: true,
      description: 'After how many minutes that is; null: never.',
    }),
    quietHours: t.field({
      type: QuietHoursRef,
      nullable: true,
      description: 'When it is left in peace; null: never.',
      resolve: (channel: AlertChannelRow) => quietHoursInput(channel),
    }),
    signingSecret: t.string({
      nullable: true,
      authScopes: ({ organizationId }, _args, { actor }) => hasScope(actor, organizationId, 'WRITE'),
      description:
        'The signing secret of a webhook, as defined by Standard Webhooks; null for other kinds. Requires a key with scope WRITE.',
      resolve: (channel, _args, ctx) => signingSecret(ctx, channel),
    }),
    deliveries: t.field({
      type: [AlertDelivery],
      extensions: rows(MAX_DELIVERIES),
      description: `The last ${MAX_DELIVERIES} messages to it, newest first. Kept for 30 days.`,
      resolve: ({ id }, _args, { db }) =>
        db.alertDelivery.findMany({ where: { channelId: id }, orderBy: { position: 'desc' }, take: MAX_DELIVERIES }),
    }),
    version: t.exposeInt('version', { description: 'Incremented by every update.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

const order = orderOf('AlertChannel', { createdAt: ['time', 'asc'], id: ['text', 'asc'] })

builder.prismaObjectField('Organization', 'alertChannels', (t) =>
  t.field({
    type: connectionOf('AlertChannel'),
    description: 'In the order in which they were created.',
    args: pageArgs,
    resolve: ({ id }, args, ctx, info) =>
      pageOf({
        order,
        args,
        where: { organizationId: id },
        read: (slice) => ctx.db.alertChannel.findMany({ ...nodeQuery('AlertChannel', ctx, info), ...slice }),
        count: (query) => ctx.db.alertChannel.count(query),
      }),
  }),
)
