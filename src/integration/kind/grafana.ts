import { readGroup } from './alertmanager.ts'
import type { Reading } from './incoming.ts'
import { fieldsOf, unreadable } from './incoming.ts'

/** Reads a message of Grafana's webhook contact point: Alertmanager’s group, with Grafana's members. */
export function readGrafana(body: unknown): Reading {
  const { groupKey, status, state, externalURL, ...group } = fieldsOf(body)
  if (typeof groupKey !== 'string' || !Array.isArray(group['alerts']))
    return unreadable('This is not an alert of a Grafana webhook contact point.')
  return readGroup({
    ...group,
    groupKey,
    status: status ?? (state === 'ok' ? 'resolved' : 'firing'),
    link: externalURL,
  })
}
