import type { Fields, Reading } from '../incoming.ts'
import { alertsOf, fieldsOf, itemsOf, merged, unreadable } from '../incoming.ts'

/** Reads what Prometheus Alertmanager sends (webhook, version 4): one alert per group, as it groups them. */
export function readAlertmanager(body: unknown): Reading {
  const { version, groupKey, status, alerts, externalURL, ...group } = fieldsOf(body)
  if (version !== '4' || typeof groupKey !== 'string') return unreadable('It is no webhook of Alertmanager, version 4.')
  return readGroup({ ...group, groupKey, status, alerts, link: externalURL })
}

/** Reads a group of alerts, as Grafana sends them too. */
export function readGroup(group: Fields): Reading {
  const { groupKey, status, title, message, link } = group
  const alerts = itemsOf(group['alerts']).map(fieldsOf)
  const firing = alerts.filter((alert) => alert['status'] !== 'resolved')
  const shown = firing.length > 0 ? firing : alerts
  const labels = merged(shown[0]?.['labels'], group['groupLabels'], group['commonLabels'])
  const annotations = merged(shown[0]?.['annotations'], group['commonAnnotations'])
  const [first] = shown.flatMap((alert) => alert['startsAt'] ?? []).sort()
  return alertsOf([
    {
      key: groupKey,
      state: status === 'resolved' ? 'RESOLVED' : 'FIRING',
      title: annotations['summary'] ?? labels['alertname'] ?? title,
      text: annotations['description'] ?? message ?? summaries(shown),
      severity: labels['severity'],
      labels,
      at: first,
      link: shown[0]?.['generatorURL'] || link,
    },
  ])
}

function summaries(alerts: readonly Fields[]): string {
  return alerts
    .map(({ annotations }) => fieldsOf(annotations)['summary'])
    .filter((summary) => typeof summary === 'string')
    .join('\n')
}
