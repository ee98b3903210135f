import { ChannelKind, DeliveryStatus, StopReason, Topic } from '../../generated/prisma/enums.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { builder } from './builder.ts'

builder.enumType(ChannelKind, {
  name: 'ChannelKind',
  description: 'How a subscriber is reached.',
  values: describedValues({
    DISCORD: 'A Discord webhook.',
    EMAIL: 'Email.',
    SLACK: 'A Slack incoming webhook.',
    TEAMS: 'A Microsoft Teams workflow.',
    TELEGRAM: 'A Telegram chat.',
    WEBHOOK: 'A webhook, signed as defined by Standard Webhooks.',
  }),
})
builder.enumType(Topic, {
  name: 'SubscriptionTopic',
  description: 'What a subscriber gets notified about.',
  values: describedValues({
    INCIDENTS: 'Incidents and their updates.',
    MAINTENANCES: 'Maintenance and its updates.',
    REPORTS: 'The page’s monthly reports, if its readers can read them, or if the subscriber is a member.',
    SERVICE_STATUS: 'Every change of a service’s status.',
  }),
})
builder.enumType(StopReason, {
  name: 'StopReason',
  description: 'Why a subscriber no longer gets notifications.',
  values: describedValues({
    BOUNCED: 'Messages were refused permanently.',
    COMPLAINED: 'The recipient marked a message as spam.',
    GONE: 'The receiver reported that the address no longer exists.',
    UNSUBSCRIBED: 'The subscriber unsubscribed.',
  }),
})
builder.enumType(DeliveryStatus, {
  name: 'DeliveryStatus',
  description: 'The state of a delivery.',
  values: describedValues({
    CANCELLED: 'The subscriber was stopped before the message could be sent.',
    DELIVERED: 'The receiver accepted the message.',
    FAILED: 'Every attempt failed, and no more are made.',
    PENDING: 'Waiting for its first or next attempt.',
  }),
})

export const SubscriberState = builder.enumType('SubscriberState', {
  description: 'The state of a subscription.',
  values: describedValues({
    ACTIVE: 'Confirmed, and notified.',
    PENDING: 'Waiting for the confirmation, and not notified yet.',
    STOPPED: 'No longer notified.',
  }),
})
