import type { ChannelKind, DeliveryStatus, StopReason, Topic } from '../../../generated/prisma/enums.ts'
import type { SubscriberStateName } from '../../../notification/subscriber/list-filter.ts'

export const channelNames = {
  EMAIL: 'Mail',
  WEBHOOK: 'Webhook',
  SLACK: 'Slack',
  DISCORD: 'Discord',
  TEAMS: 'Teams',
  TELEGRAM: 'Telegram',
} as const satisfies Record<ChannelKind, string>

export const subscriberStateNames = {
  ACTIVE: 'Confirmed',
  PENDING: 'Not confirmed',
  STOPPED: 'Stopped',
} as const satisfies Record<SubscriberStateName, string>

export const stopReasonNames = {
  UNSUBSCRIBED: 'unsubscribed',
  GONE: 'the address no longer exists',
  BOUNCED: 'messages were refused',
  COMPLAINED: 'reported as spam',
} as const satisfies Record<StopReason, string>

export const topicNames = {
  INCIDENTS: 'Incidents',
  MAINTENANCES: 'Maintenance',
  SERVICE_STATUS: 'Every status change of a service',
  REPORTS: 'Monthly reports',
} as const satisfies Record<Topic, string>

export const deliveryStatusNames = {
  PENDING: 'Waiting',
  DELIVERED: 'Delivered',
  FAILED: 'Failed',
  CANCELLED: 'Cancelled',
} as const satisfies Record<DeliveryStatus, string>

/** Returns the options of a filter, the first of which is any. */
export function choicesOf(names: Readonly<Record<string, string>>) {
  return [{ value: '', text: 'Any' }, ...Object.entries(names).map(([value, text]) => ({ value, text }))]
}
