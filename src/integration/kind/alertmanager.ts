import type { Fields, Reading } from './incoming.ts'
import { alertsOf, fieldsOf, itemsOf, labelsOf, MAX_MEMBERS, merged, nothing, test, unreadable } from './incoming.ts'

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
  if (isGrafanaTest(group, alerts)) return test('Grafana')
  if (alerts.length > 0 && alerts.every(isWatchdog))
    return nothing('A watchdog always fires, so it reports no problem.')
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

/**
 * Returns whether a group is a test of a contact point. Grafana builds its key from the name of the receiver, the fingerprint of the
 * alert and the time (`TestNotifier` in grafana/alerting), and names its alert unless the person who tests names it otherwise. The
 * contact points of Mimir send the same alert in Alertmanager's format.
 */
function isGrafanaTest({ groupKey, receiver }: Fields, alerts: readonly Fields[]): boolean {
  const rest = typeof receiver === 'string' && String(groupKey).startsWith(`${receiver}-`) ? receiver.length : null
  if (rest !== null && /^-[0-9a-f]{1,16}-\d{9,11}$/.test(String(groupKey).slice(rest))) return true
  return alerts.length > 0 && alerts.every(({ labels }) => isTestAlert(fieldsOf(labels)))
}

/** Rules of a person have a folder, which Grafana adds as a label. */
const isTestAlert = (labels: Fields) =>
  labels['alertname'] === 'TestAlert' && labels['instance'] === 'Grafana' && labels['grafana_folder'] === undefined

/** Returns whether an alert is one that always fires, to show that the pipeline works (`Watchdog` in kube-prometheus). */
function isWatchdog({ labels }: Fields): boolean {
  const { alertname, severity } = fieldsOf(labels)
  return (alertname === 'Watchdog' || alertname === 'DeadMansSwitch') && severity === 'none'
}

function summariesOf(alerts: readonly Fields[]): string {
  return alerts
    .map(({ annotations }) => fieldsOf(annotations)['summary'])
    .filter((summary) => typeof summary === 'string')
    .join('\n')
}
