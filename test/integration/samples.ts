import type { IntegrationKind } from '../../src/generated/prisma/enums.ts'
import { DATADOG_TEMPLATE } from '../../src/integration/kind/datadog.ts'

/** A group of Alertmanager, as in its documentation. */
export const alertmanager = {
  version: '4',
  groupKey: '{}:{alertname="HighLatency"}',
  truncatedAlerts: 0,
  status: 'firing',
  receiver: 'allclear',
  groupLabels: { alertname: 'HighLatency' },
  commonLabels: { alertname: 'HighLatency', service: 'shop', severity: 'critical' },
  commonAnnotations: { summary: 'Checkout is slow', description: 'p99 over 2 s' },
  externalURL: 'http://alertmanager.example:9093',
  alerts: [
    {
      status: 'firing',
      labels: { alertname: 'HighLatency', instance: 'a', service: 'shop', severity: 'critical' },
      annotations: { summary: 'Checkout is slow' },
      startsAt: '2026-11-20T11:58:00.000Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: 'http://prometheus.example/graph',
      fingerprint: 'c1',
    },
  ],
}
/** An event of PagerDuty’s webhooks. */
export const pagerduty = (type: string) => ({
  event: {
    id: '01D',
    event_type: type,
    resource_type: 'incident',
    occurred_at: '2026-11-20T12:00:00.000Z',
    agent: null,
    client: null,
    data: {
      id: 'PGR0VU2',
      type: 'incident',
      self: 'https://api.pagerduty.com/incidents/PGR0VU2',
      html_url: 'https://acme.pagerduty.com/incidents/PGR0VU2',
      number: 2,
      status: 'triggered',
      incident_key: 'd3640fbd',
      created_at: '2026-11-20T11:59:00Z',
      title: 'A little bump in the road',
      service: {
        id: 'PF9KMXH',
        summary: 'API Service',
        html_url: 'https://acme.pagerduty.com',
        type: 'service_reference',
      },
      assignees: [],
      priority: { summary: 'P1' },
      urgency: 'high',
    },
  },
})
/** An event of PagerDuty’s Events API. */
export const event = (action: string, payload?: object) => ({ event_action: action, dedup_key: 'srv01/HTTP', payload })
/** A notification of Datadog that follows the template. */
export const datadog = (transition: string) =>
  JSON.parse(
    Object.entries({
      $ALERT_CYCLE_KEY: '4711',
      $ALERT_ID: '12',
      $ALERT_TRANSITION: transition,
      $EVENT_TITLE: '[Triggered] CPU is high',
      $EVENT_MSG: '%%% over 90 %%%',
      $ALERT_PRIORITY: 'P2',
      $ALERT_SCOPE: 'host:a',
      $HOSTNAME: 'a',
      $TAGS: 'env:prod,team:shop',
      $LINK: 'https://app.datadoghq.eu/event/1',
    }).reduce((text, [name, value]) => text.replace(name, value), DATADOG_TEMPLATE),
  )
/** An issue of Sentry. */
export const sentryIssue = {
  id: '42',
  title: 'TypeError',
  level: 'error',
  web_url: 'https://sentry.example/42',
  project: { slug: 'shop' },
}
/** A notification of Uptime Kuma: 0 is down, 1 up. */
export const kuma = (status: number) => ({
  heartbeat: { monitorID: 1, status, time: '2026-11-20 11:59:00.000', msg: 'connect ECONNREFUSED', ping: null },
  monitor: { id: 1, name: 'Shop', url: 'https://shop.example', type: 'http', hostname: null },
  msg: '[Shop] [Down] connect ECONNREFUSED',
})
/** An alarm of CloudWatch. */
export const cloudwatch = (state: string) => ({
  AlarmName: 'CPU',
  AlarmDescription: 'CPU over 90',
  AWSAccountId: '123456789012',
  NewStateValue: state,
  NewStateReason: 'Threshold crossed',
  StateChangeTime: '2026-11-20T11:59:00.000+0000',
  Region: 'EU (Frankfurt)',
  AlarmArn: 'arn:aws:cloudwatch:eu-central-1:123456789012:alarm:CPU',
  Trigger: { MetricName: 'CPUUtilization', Namespace: 'AWS/EC2', Dimensions: [{ name: 'InstanceId', value: 'i-1' }] },
})

/** The event of an issue alert of Sentry. */
export const sentryEvent = {
  title: 'TypeError',
  issue_id: '42',
  web_url: 'https://sentry.example/42',
  level: 'error',
  tags: [['environment', 'prod']],
}

/** A firing alert of each kind, with every field that we read. For SNS, the message in a notification. */
export const samples: Readonly<Record<IntegrationKind, object>> = {
  ALERTMANAGER: alertmanager,
  GRAFANA: { ...alertmanager, version: '1', orgId: 1, title: '[FIRING:1]', state: 'alerting', message: 'Hi' },
  PAGERDUTY: pagerduty('incident.triggered'),
  PAGERDUTY_EVENTS: {
    ...event('trigger', {
      ...{ summary: 'DB down', source: 'db1', severity: 'error', timestamp: '2026-11-20T11:59:00Z' },
      ...{ component: 'postgres', group: 'prod', class: 'lag', custom_details: { team: 'shop' } },
    }),
    links: [{ href: 'https://runbooks.example/db', text: 'Runbook' }],
    client: 'Monitor',
  },
  DATADOG: datadog('Triggered'),
  SENTRY: {
    action: 'triggered',
    data: {
      event: {
        ...sentryEvent,
        ...{ message: 'a is b', environment: 'prod', project: 7, datetime: '2026-11-20T11:59:00Z' },
      },
      triggered_rule: 'Many errors',
    },
  },
  SNS: cloudwatch('ALARM'),
  UPTIME_KUMA: kuma(0),
  GENERIC: {
    ...{ title: 'Disk full', key: 'disk', state: 'firing', severity: 'warn', text: 'On a.', link: 'https://a.example' },
    labels: { host: 'a' },
  },
}
