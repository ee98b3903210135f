import type { EnumRef } from '@pothos/core'
import { hasScope } from '../../core/access.ts'
import type {
  AlertChannel as AlertChannelRow,
  AlertDelivery as AlertDeliveryRow,
} from '../../generated/prisma/client.ts'
import { AlertChange, AlertChannelKind, DeliveryStatus } from '../../generated/prisma/enums.ts'
import { costs, rows, text } from '../../graphql/document/cost.ts'
import { connectionOf, connectionOfNode, nodeQuery, pageArgs } from '../../graphql/list/connection.ts'
import { orderOf, pageOf } from '../../graphql/list/keyset.ts'
import { describedEnum } from '../../graphql/schema/described-type.ts'
import { readAttempts } from '../../notification/queue/attempt.ts'
import { MAX_SERVICES } from '../../status/ownership.ts'
import { pageableAlertDeliveries } from '../alert-queries.ts'
import { signingSecret } from '../channel.ts'
import type { QuietTimes } from '../quiet-hours.ts'
import { formatMinutes, quietTimesOf, weekday, weekdays } from '../quiet-hours.ts'
import { builder } from './builder.ts'

const WeekdayRef = describedEnum(weekday) as EnumRef<typeof builder.$inferSchemaTypes, (typeof weekdays)[number]>

/** How many windows a channel may have. */
const MAX_WINDOWS = 14

const QuietWindowRef = builder.objectRef<QuietTimes['windows'][number]>('QuietWindow').implement({
  description: 'Hours on some days of the week when a channel gets no messages.',
  fields: (t) => ({
    days: t.field({
      type: [WeekdayRef],
      extensions: costs({ items: weekdays.length }),
      description: 'The days on which the window begins.',
      resolve: ({ days }) => weekdays.filter((_, index) => days.includes(index + 1)),
    }),
    from: t.string({ description: 'The start, such as 22:00.', resolve: ({ from }) => formatMinutes(from) }),
    to: t.string({
      description: 'The end, up to 24:00. If it is not after `from`, it is on the next day.',
      resolve: ({ to }) => formatMinutes(to),
    }),
  }),
})

const QuietTimesRef = builder.objectRef<QuietTimes>('QuietTimes').implement({
  description: 'When a channel gets no messages. Alerts wait until the window ends; windows that touch count as one.',
  fields: (t) => ({
    windows: t.field({
      type: [QuietWindowRef],
      extensions: costs({ items: MAX_WINDOWS }),
      description: 'The windows.',
      resolve: ({ windows }) => [...windows],
    }),
    timeZone: t.exposeString('timeZone', { description: 'The time zone of all windows.' }),
  }),
})

const AlertDelivery = builder.objectRef<AlertDeliveryRow>('AlertDelivery').implement({
  description: 'A message to an alert channel, with the response to its last attempt.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The same for all attempts.' }),
    status: t.expose('status', { type: DeliveryStatus, description: 'The status of the delivery.' }),
    attempts: t.int({
      description: 'How many attempts were made.',
      resolve: ({ attempts }) => readAttempts(attempts).length,
    }),
    answer: t.string({
      nullable: true,
      extensions: text(600),
      description: 'The receiver’s response to the last attempt; null: no attempt yet, or no response.',
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
      description: 'When it was delivered, canceled or given up.',
    }),
  }),
})

const newestFirst = orderOf('AlertDelivery', { position: ['number', 'desc'] })

export const AlertChannel = builder.prismaNode('AlertChannel', {
  id: { field: 'id' },
  nullable: true,
  description: 'Where the team gets alerts about its monitors. Visible to the organization only.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The channel’s name.' }),
    kind: t.expose('kind', { type: AlertChannelKind, description: 'How the channel reaches the team.' }),
    address: t.exposeString('label', { description: 'The address, with secrets left out.' }),
    when: t.expose('changes', {
      type: [AlertChange],
      extensions: costs({ items: Object.keys(AlertChange).length }),
      description: 'The changes that the channel is notified of.',
    }),
    monitors: t.prismaField({
      type: ['Monitor'],
      extensions: rows(MAX_SERVICES),
      description: 'The monitors whose alerts it gets. Without monitors and services, it gets all alerts.',
      resolve: (query, { organizationId, monitorIds }, _args, { db }) =>
        db.monitor.findMany({ ...query, where: { organizationId, id: { in: monitorIds } }, orderBy: { id: 'asc' } }),
    }),
    services: t.prismaField({
      type: ['Service'],
      extensions: rows(MAX_SERVICES),
      description: 'The services whose monitors’ alerts it gets.',
      resolve: (query, { organizationId, serviceIds }, _args, { db }) =>
        db.service.findMany({
          ...query,
          where: { organizationId, id: { in: serviceIds } },
          orderBy: [{ position: 'asc' }, { id: 'asc' }],
        }),
    }),
    remindAfterMinutes: t.exposeInt('remindAfterMinutes', {
      nullable: true,
      description: 'The minutes between reminders of an unacknowledged alert; null: no reminders.',
    }),
    // An id, not the channel: a small query could otherwise follow a cycle.
    escalateToId: t.exposeID('escalateToId', {
      nullable: true,
      description: 'The channel that gets an alert if it is not acknowledged in time; null: none.',
    }),
    escalateAfterMinutes: t.exposeInt('escalateAfterMinutes', {
      nullable: true,
      description: 'The minutes until an unacknowledged alert escalates; null: never.',
    }),
    quietTimes: t.field({
      type: QuietTimesRef,
      nullable: true,
      description: 'When it gets no messages; null: never.',
      resolve: (channel: AlertChannelRow) => quietTimesOf(channel),
    }),
    signingSecret: t.string({
      nullable: true,
      authScopes: ({ organizationId }, _args, { actor }) => hasScope(actor, organizationId, 'WRITE'),
      description:
        'The signing secret of a webhook, as defined by Standard Webhooks; null for other kinds. Requires a key with scope WRITE.',
      resolve: (channel, _args, ctx) => signingSecret(ctx, channel),
    }),
    messages: t.field({
      type: connectionOfNode('AlertDelivery', AlertDelivery),
      description: 'The messages to it, newest first. Kept for 30 days after they were delivered or given up.',
      args: pageArgs,
      resolve: ({ id }, args, { db }) =>
        pageOf({
          order: newestFirst,
          args,
          ...pageableAlertDeliveries({ db }, id),
        }),
    }),
    version: t.exposeInt('version', { description: 'Incremented by every update.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

const order = orderOf('AlertChannel', { createdAt: ['time', 'asc'], id: ['text', 'asc'] })

builder.prismaObjectField('Organization', 'alertChannels', (t) =>
  t.field({
    type: connectionOf('AlertChannel'),
    description: 'The alert channels, oldest first.',
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
