import type { Reading } from '../incoming.ts'
import { fieldsOf, unreadable } from '../incoming.ts'
import { readGroup } from './alertmanager.ts'

/** Reads what the webhook contact point of Grafana sends: Alertmanager’s group with members of its own. */
export function readGrafana(body: unknown): Reading {
  const { groupKey, status, state, externalURL, ...group } = fieldsOf(body)
  if (typeof groupKey !== 'string' || !Array.isArray(group['alerts']))
    return unreadable('It is no alert of Grafana’s webhook contact point.')
  return readGroup({
    ...group,
    groupKey,
    status: status ?? (state === 'ok' ? 'resolved' : 'firing'),
    link: externalURL,
  })
}
