import { identityOf } from './identity.ts'
import type { Reading } from './incoming.ts'
import { alertsOf, fieldsOf, nothing, test, unreadable } from './incoming.ts'

/** Reads a webhook of Sentry: issue alerts, metric alerts, and resolved issues. The id of an issue identifies it. */
export function readSentry(body: unknown): Reading {
  const { action, data } = fieldsOf(body)
  const { event, issue, metric_alert: metric, triggered_rule: rule, ...more } = fieldsOf(data)
  if (event !== undefined) return ofIssueAlert(fieldsOf(event), rule)
  if (metric !== undefined) return ofMetricAlert(action, fieldsOf(metric), more)
  if (more['installation'] !== undefined) return nothing('The integration was installed or removed at Sentry.')
  if (issue === undefined) return unreadable('This is not a Sentry webhook about an issue or an alert.')
  const { id, title, level, web_url: link, permalink, project, tags } = fieldsOf(issue)
  if (isSample(tags)) return test('Sentry')
  if (identityOf(id) === '') return withoutId
  const state = action === 'resolved' ? 'RESOLVED' : action === 'created' || action === 'unresolved' ? 'FIRING' : null
  if (state === null) return nothing('The action neither creates nor resolves an issue.')
  const labels = { project: fieldsOf(project)['slug'], level }
  return alertsOf([{ key: `issue ${String(id)}`, state, title, severity: level, labels, link: link ?? permalink }])
}

const withoutId = unreadable('It has no id, by which its end could be recognized.')

/**
 * Returns whether an event is a sample, which Sentry sends with "Send Test Notification" and when a project has no event yet. It has
 * the tag `sample_event` (`create_sample_event` in Sentry's source).
 */
const isSample = (tags: unknown): boolean =>
  Array.isArray(tags) &&
  tags.some((tag) =>
    Array.isArray(tag) ? tag[0] === 'sample_event' && tag[1] === 'yes' : fieldsOf(tag)['key'] === 'sample_event',
  )

function ofIssueAlert(event: Readonly<Record<string, unknown>>, rule: unknown): Reading {
  const { title, issue_id: id, web_url: link, level, message, environment, project, tags, datetime } = event
  if (isSample(tags)) return test('Sentry')
  if (identityOf(id) === '') return withoutId
  const pairs = Array.isArray(tags) ? tags.slice(0, 40).filter((tag) => Array.isArray(tag) && tag.length === 2) : []
  return alertsOf([
    {
      key: `issue ${String(id)}`,
      state: 'FIRING',
      title,
      text: message,
      severity: level,
      labels: { ...Object.fromEntries(pairs), project, environment, level, rule },
      at: datetime,
      link,
    },
  ])
}

function ofMetricAlert(
  action: unknown,
  metric: Readonly<Record<string, unknown>>,
  { description_title: title, description_text: text, web_url: link }: Readonly<Record<string, unknown>>,
): Reading {
  const { id, alert_rule: rule, date_started: at } = metric
  if (identityOf(id) === '') return withoutId
  return alertsOf([
    {
      key: `metric ${String(id)}`,
      state: action === 'resolved' ? 'RESOLVED' : 'FIRING',
      title,
      text,
      severity: action,
      labels: { rule: fieldsOf(rule)['name'], action },
      at,
      link,
    },
  ])
}
