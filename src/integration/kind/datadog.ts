import { identityOf } from './identity.ts'
import type { Reading } from './incoming.ts'
import { alertsOf, fieldsOf, line, nothing, test, unreadable } from './incoming.ts'

/** The payload to paste into a Datadog webhook, because Datadog has no fixed format. */
export const DATADOG_TEMPLATE = `{
  "key": "$ALERT_CYCLE_KEY",
  "id": "$ALERT_ID",
  "transition": "$ALERT_TRANSITION",
  "title": "$EVENT_TITLE",
  "text": "$EVENT_MSG",
  "priority": "$ALERT_PRIORITY",
  "scope": "$ALERT_SCOPE",
  "host": "$HOSTNAME",
  "tags": "$TAGS",
  "link": "$LINK"
}`

const firing = new Set(['Triggered', 'Re-Triggered', 'Warn', 'Re-Warn', 'No Data', 'Re-No Data', 'Renotify'])
const resolved = new Set(['Recovered', 'Warn Recovered', 'No Data Recovered'])

/** Reads a notification of Datadog that follows the template. */
export function readDatadog(body: unknown): Reading {
  const { key, id, transition, title, text, priority, scope, host, tags, link } = fieldsOf(body)
  if (typeof transition !== 'string') return unreadable('This does not follow the template for Datadog.')
  // Datadog's test notifications simulate a transition, and have this mark in their title.
  if (/^\s*\[TEST\]/i.test(String(title))) return test('Datadog')
  const state = resolved.has(transition) ? 'RESOLVED' : firing.has(transition) ? 'FIRING' : null
  if (state === null) return nothing(`The transition ${line(transition, 50)} neither triggers nor recovers.`)
  return alertsOf([
    {
      key: identityOf(key) || id,
      state,
      title: typeof title === 'string' ? title.replace(/^\[[^\]]*\]\s*/, '') : title,
      text: typeof text === 'string' ? text.replace(/%%%/g, '') : '',
      severity: priority ?? (transition.includes('Warn') ? 'warning' : 'critical'),
      labels: { ...tagsOf(tags), scope, host, transition },
      link,
    },
  ])
}

/** Returns tags, such as `env:prod,team:shop`, as labels. */
function tagsOf(tags: unknown): Record<string, string> {
  if (typeof tags !== 'string') return {}
  const pairs = tags.slice(0, 10_000).split(/[,\s]+/)
  return Object.fromEntries(
    pairs.flatMap((tag) => {
      const at = tag.indexOf(':')
      return at < 1 ? [] : [[tag.slice(0, at), tag.slice(at + 1)] as const]
    }),
  )
}
