import type { Fields, Reading } from './incoming.ts'
import { alertsOf, fieldsOf, itemsOf, labelsOf, MAX_MEMBERS, merged, unreadable } from './incoming.ts'

/**
 * Reads a webhook of Prometheus Alertmanager, version 4 (https://prometheus.io/docs/alerting/latest/configuration/#webhook_config),
 * with one alert per group.
 */
export function readAlertmanager(body: unknown): Reading {
  const { version, groupKey, externalURL, ...group } = fieldsOf(body)
  if (version !== '4' || typeof groupKey !== 'string')
    return unreadable('This is not an Alertmanager webhook, version 4.')
  return readGroup({ ...group, groupKey, link: externalURL })
}

/** Reads a group of alerts in the format that Alertmanager and Grafana share. The firing alerts become its members. */
export function readGroup(group: Fields): Reading {
  const { groupKey, status, title, message, link, truncatedAlerts } = group
  const all = itemsOf(group['alerts'], Number.POSITIVE_INFINITY)
  const alerts = all.slice(0, MAX_MEMBERS).map(fieldsOf)
  const firing = alerts.filter((alert) => alert['status'] !== 'resolved')
  const shown = firing.length > 0 ? firing : alerts
  const shared = merged(group['groupLabels'], group['commonLabels'])
  // Parsed once for all members: a group may have a thousand members, with thousands of labels.
  const common = labelsOf(shared)
  const memberOf = (alert: Fields) => {
    const labels = fieldsOf(alert['labels'])
    return { labels, common, severity: shared['severity'] ?? labels['severity'] }
  }
  const only = shown.length === 1 ? fieldsOf(shown[0]) : {}
  const annotations = merged(only['annotations'], group['commonAnnotations'])
  const [first] = shown
    .map((alert) => alert['startsAt'])
    .filter((start) => typeof start === 'string')
    .sort()
  const left = all.length - alerts.length + (typeof truncatedAlerts === 'number' ? Math.max(0, truncatedAlerts) : 0)
  const text = annotations['description'] ?? message ?? summariesOf(shown)
  return alertsOf([
    {
      key: groupKey,
      state: status === 'resolved' ? 'RESOLVED' : 'FIRING',
      title: annotations['summary'] ?? shared['alertname'] ?? title ?? fieldsOf(shown[0]?.['labels'])['alertname'],
      text: left > 0 && typeof text === 'string' ? `${text}\n${left} more alerts are not listed.`.trim() : text,
      members: shown.length > 0 ? shown.map(memberOf) : [memberOf({})],
      resolved: status === 'resolved' ? [] : alerts.filter((alert) => alert['status'] === 'resolved').map(memberOf),
      isTruncated: left > 0,
      at: first,
      link: shown[0]?.['generatorURL'] || link,
    },
  ])
}

function summariesOf(alerts: readonly Fields[]): string {
  return alerts
    .map(({ annotations }) => fieldsOf(annotations)['summary'])
    .filter((summary) => typeof summary === 'string')
    .join('\n')
}
