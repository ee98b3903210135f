import type { Reading } from './incoming.ts'
import { alertsOf, fieldsOf, itemsOf, nothing, unreadable } from './incoming.ts'

/** Reads the message of an SNS notification as a CloudWatch alarm. */
export function readCloudWatch(message: unknown): Reading {
  const alarm = fieldsOf(message)
  const { AlarmName: name, AlarmArn: arn, NewStateValue: state, NewStateReason: text, StateChangeTime: at } = alarm
  if (typeof name !== 'string' || typeof state !== 'string') return unreadable('This is not a CloudWatch alarm.')
  if (state !== 'ALARM' && state !== 'OK') return nothing('CloudWatch has insufficient data.')
  const trigger = fieldsOf(alarm['Trigger'])
  const dimensions = itemsOf(trigger['Dimensions']).map(fieldsOf)
  return alertsOf([
    {
      key: arn ?? name,
      state: state === 'ALARM' ? 'FIRING' : 'RESOLVED',
      title: name,
      text: alarm['AlarmDescription'] || text,
      severity: 'critical',
      labels: {
        ...Object.fromEntries(dimensions.map((each) => [String(each['name']), each['value']])),
        alarm: name,
        namespace: trigger['Namespace'],
        metric: trigger['MetricName'],
        region: alarm['Region'],
        account: alarm['AWSAccountId'],
      },
      at,
    },
  ])
}
