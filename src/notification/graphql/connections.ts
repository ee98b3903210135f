import { ANY_CASE } from '../../core/list-filter.ts'
import { ChannelKind, DeliveryStatus } from '../../generated/prisma/enums.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/list/connection.ts'
import { filterTag, listCosts, NAME_SEARCH_COST } from '../../graphql/list/filter.ts'
import { orderOf, pageOf } from '../../graphql/list/keyset.ts'
import { deliveriesMatching } from '../delivery/list-filter.ts'
import { subscribersMatching } from '../subscriber/list-filter.ts'
import { builder } from './builder.ts'
import { SubscriberState } from './enums.ts'

const SubscriberFilter = builder.inputType('SubscriberFilter', {
  description: 'Conditions. Items must match all of them.',
  fields: (t) => ({
    channel: t.field({ type: [ChannelKind], required: false, description: 'With one of these values.' }),
    state: t.field({ type: [SubscriberState], required: false, description: 'With one of these values.' }),
    address: t.string({ required: false, description: `Part of the address, ${ANY_CASE}` }),
    pageId: t.id({ required: false, description: 'Of this page.' }),
    createdAfter: t.field({ type: 'DateTime', required: false, description: 'Created at or after this time.' }),
    createdBefore: t.field({ type: 'DateTime', required: false, description: 'Created before this time.' }),
  }),
})

const DeliveryFilter = builder.inputType('DeliveryFilter', {
  description: 'Conditions. Items must match all of them.',
  fields: (t) => ({
    channel: t.field({ type: [ChannelKind], required: false, description: 'With one of these values.' }),
    status: t.field({ type: [DeliveryStatus], required: false, description: 'With one of these values.' }),
    subscriberId: t.id({ required: false, description: 'To this subscriber.' }),
    createdAfter: t.field({ type: 'DateTime', required: false, description: 'Created at or after this time.' }),
    createdBefore: t.field({ type: 'DateTime', required: false, description: 'Created before this time.' }),
  }),
})

const newestFirst = (type: 'Subscriber' | 'Delivery', filter: object | null | undefined) =>
  orderOf(type, { createdAt: ['time', 'desc'], id: ['text', 'desc'] }, filterTag(filter))

builder.prismaObjectFields('Organization', (t) => ({
  subscribers: t.field({
    type: connectionOf('Subscriber'),
    description: 'The subscribers, newest first.',
    extensions: listCosts(0, ({ filter }) => (filter?.['address'] ? NAME_SEARCH_COST : 0)),
    args: { filter: t.arg({ type: SubscriberFilter, required: false }), ...pageArgs },
    resolve: ({ id }, { filter, ...args }, ctx, info) =>
      pageOf({
        order: newestFirst('Subscriber', filter),
        args,
        where: { organizationId: id, ...subscribersMatching(filter ?? {}) },
        read: (slice) => ctx.db.subscriber.findMany({ ...nodeQuery('Subscriber', ctx, info), ...slice }),
        count: (query) => ctx.db.subscriber.count(query),
      }),
  }),
  deliveries: t.field({
    type: connectionOf('Delivery'),
    description: 'Messages sent or to be sent to subscribers, newest first. Kept for 30 days.',
    args: { filter: t.arg({ type: DeliveryFilter, required: false }), ...pageArgs },
    resolve: ({ id }, { filter, ...args }, ctx, info) =>
      pageOf({
        order: newestFirst('Delivery', filter),
        args,
        where: { organizationId: id, ...deliveriesMatching(filter ?? {}) },
        read: (slice) => ctx.db.delivery.findMany({ ...nodeQuery('Delivery', ctx, info), ...slice }),
        count: (query) => ctx.db.delivery.count(query),
      }),
  }),
}))
