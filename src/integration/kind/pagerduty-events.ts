import type { Reading } from './incoming.ts'
import { alertsOf, fieldsOf, itemsOf, nothing, unreadable } from './incoming.ts'

/** Reads an event of PagerDuty’s Events API, version 2. */
export function readPagerDutyEvent(body: unknown): Reading {
  const { event_action: action, dedup_key: key, payload, links, client } = fieldsOf(body)
  if (action === 'acknowledge') return nothing('It was acknowledged at its source.')
  if (action !== 'trigger' && action !== 'resolve')
    return unreadable('This is not an event of the Events API, version 2.')
  const {
    summary,
    source,
    severity,
    timestamp,
    component,
    group,
    class: kind,
    custom_details: details,
  } = fieldsOf(payload)
  return alertsOf([
    {
      key: key ?? fieldsOf(payload)['summary'],
      state: action === 'trigger' ? 'FIRING' : 'RESOLVED',
      title: summary,
      text: typeof details === 'string' ? details : '',
      severity,
      labels: { ...fieldsOf(details), source, severity, component, group, class: kind, client },
      at: timestamp,
      link: fieldsOf(itemsOf(links)[0])['href'],
    },
  ])
}
