import type { Prisma } from '../../generated/prisma/client.ts'
import { ChannelKind, DeliveryStatus } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/connection.ts'
import { orderOf, pageOf } from '../../graphql/keyset.ts'
import { typeOfId } from '../../id.ts'
import { active } from '../subscriber.ts'
import { SubscriberState } from './words.ts'

const SubscriberFilter = builder.inputType('SubscriberFilter', {
  description: 'Everything that is given has to hold.',
  fields: (t) => ({
    channel: t.field({ type: [ChannelKind], required: false, description: 'One of these.' }),
    state: t.field({ type: [SubscriberState], required: false, description: 'One of these.' }),
    address: t.string({ required: false, description: 'Those whose address has this in it.' }),
  }),
})

const DeliveryFilter = builder.inputType('DeliveryFilter', {
  description: 'Everything that is given has to hold.',
  fields: (t) => ({
    channel: t.field({ type: [ChannelKind], required: false, description: 'One of these.' }),
    status: t.field({ type: [DeliveryStatus], required: false, description: 'One of these.' }),
    subscriberId: t.id({ required: false, description: 'Those to this subscriber.' }),
  }),
})

const subscribersNewestFirst = orderOf('Subscriber', { createdAt: ['time', 'desc'], id: ['text', 'desc'] })
const deliveriesNewestFirst = orderOf('Delivery', { createdAt: ['time', 'desc'], id: ['text', 'desc'] })

builder.prismaObjectFields('Organization', (t) => ({
  subscribers: t.field({
    type: connectionOf('Subscriber'),
    description: 'Newest first.',
    args: { filter: t.arg({ type: SubscriberFilter, required: false }), ...pageArgs },
    resolve: ({ id }, { filter, ...args }, ctx, info) =>
      pageOf({
        order: subscribersNewestFirst,
        args,
        where: subscribersOf(id, filter),
        read: (slice) => ctx.db.subscriber.findMany({ ...nodeQuery('Subscriber', ctx, info), ...slice }),
        count: (query) => ctx.db.subscriber.count(query),
      }),
  }),
  deliveries: t.field({
    type: connectionOf('Delivery'),
    description: 'What was sent to subscribers, or is to be, newest first; kept for 30 days.',
    args: { filter: t.arg({ type: DeliveryFilter, required: false }), ...pageArgs },
    resolve: ({ id }, { filter, ...args }, ctx, info) =>
      pageOf({
        order: deliveriesNewestFirst,
        args,
        where: deliveriesOf(id, filter),
        read: (slice) => ctx.db.delivery.findMany({ ...nodeQuery('Delivery', ctx, info), ...slice }),
        count: (query) => ctx.db.delivery.count(query),
      }),
  }),
}))

type Filter<Input extends { $inferInput: unknown }> = Input['$inferInput'] | null | undefined

const states = {
  PENDING: { confirmedAt: null, stoppedAt: null },
  ACTIVE: active,
  STOPPED: { stoppedAt: { not: null } },
} as const satisfies Record<(typeof SubscriberState)['$inferType'], Prisma.SubscriberWhereInput>

function subscribersOf(organizationId: string, filter: Filter<typeof SubscriberFilter>): Prisma.SubscriberWhereInput {
  const { channel, state, address } = filter ?? {}
  return {
    organizationId,
    ...(channel && { channel: { in: channel } }),
    ...(state && { OR: state.map((each) => states[each]) }),
    // PostgreSQL's text holds no NUL.
    ...(address && { label: { contains: address.replaceAll('\0', '\ufffd'), mode: 'insensitive' } }),
  }
}

function deliveriesOf(organizationId: string, filter: Filter<typeof DeliveryFilter>): Prisma.DeliveryWhereInput {
  const { channel, status, subscriberId } = filter ?? {}
  return {
    organizationId,
    ...(channel && { channel: { in: channel } }),
    ...(status && { status: { in: status } }),
    ...(subscriberId && { subscriberId: typeOfId(subscriberId) === null ? '' : subscriberId }),
  }
}
