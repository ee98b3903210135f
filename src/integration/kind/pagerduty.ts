import type { Reading } from './incoming.ts'
import { alertsOf, fieldsOf, line, nothing, test, unreadable } from './incoming.ts'

const firing = new Set(['incident.triggered', 'incident.reopened', 'incident.unacknowledged'])

/** Reads an event of PagerDuty’s webhooks, version 3. */
export function readPagerDuty(body: unknown): Reading {
  const event = fieldsOf(fieldsOf(body)['event'])
  const { event_type: type, data } = event
  if (typeof type !== 'string') return unreadable('This is not an event of PagerDuty’s webhooks, version 3.')
  // "Send Test Event" in the settings of a webhook.
  if (type === 'pagey.ping') return test('PagerDuty')
  const state = type === 'incident.resolved' ? 'RESOLVED' : firing.has(type) ? 'FIRING' : null
  if (state === null) return nothing(`The event ${line(type, 50)} neither opens nor resolves an incident.`)
  const incident = fieldsOf(data)
  const service = fieldsOf(incident['service'])
  const priority = fieldsOf(incident['priority'])['summary']
  return alertsOf([
    {
      key: incident['id'],
      state,
      title: incident['title'],
      severity: priority ?? (incident['urgency'] === 'high' ? 'critical' : 'warning'),
      labels: {
        service: service['summary'],
        urgency: incident['urgency'],
        priority,
        incident_key: incident['incident_key'],
      },
      at: incident['created_at'],
      link: incident['html_url'],
    },
  ])
}
