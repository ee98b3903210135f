import type { Prisma } from '../../generated/prisma/client.ts'
import { ChannelKind, DeliveryStatus } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { pageOf } from '../../graphql/lists.ts'
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

const newestFirst = [{ createdAt: 'desc' }, { id: 'desc' }] satisfies Prisma.DeliveryOrderByWithRelationInput[]

builder.prismaObjectFields('Organization', (t) => ({
  subscribers: t.prismaConnection({
    type: 'Subscriber',
    cursor: 'id',
    description: 'Newest first.',
    args: { filter: t.arg({ type: SubscriberFilter, required: false }) },
    totalCount: ({ id }, { filter }, { db }) => db.subscriber.count({ where: subscribersOf(id, filter) }),
    resolve: (query, { id }, { filter }, { db }) =>
      db.subscriber.findMany({ ...pageOf(query), where: subscribersOf(id, filter), orderBy: newestFirst }),
  }),
  deliveries: t.prismaConnection({
    type: 'Delivery',
    cursor: 'id',
    description: 'What was sent to subscribers, or is to be, newest first; kept for 30 days.',
    args: { filter: t.arg({ type: DeliveryFilter, required: false }) },
    totalCount: ({ id }, { filter }, { db }) => db.delivery.count({ where: deliveriesOf(id, filter) }),
    resolve: (query, { id }, { filter }, { db }) =>
      db.delivery.findMany({ ...pageOf(query), where: deliveriesOf(id, filter), orderBy: newestFirst }),
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
