import { ChannelKind, DeliveryStatus, StopReason, Topic } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'

builder.enumType(ChannelKind, { name: 'ChannelKind', description: 'How a subscriber is reached.' })
builder.enumType(Topic, { name: 'SubscriptionTopic', description: 'What a subscriber wants to be told of.' })
builder.enumType(StopReason, {
  name: 'StopReason',
  description:
    'Why a subscriber is told nothing any more: it said so; its address is gone, refuses for good, or complained.',
})
builder.enumType(DeliveryStatus, {
  name: 'DeliveryStatus',
  description: 'FAILED: given up. CANCELLED: its subscriber was stopped before it could be sent.',
})

/** How far a subscription has come. */
export const SubscriberState = builder.enumType('SubscriberState', {
  description: 'PENDING: it waits for its confirmation, and is told nothing yet.',
  values: ['PENDING', 'ACTIVE', 'STOPPED'],
})
