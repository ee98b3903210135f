import { readGroup } from './alertmanager.ts'
import type { Reading } from './incoming.ts'
import { fieldsOf, test, unreadable } from './incoming.ts'

/** Reads a message of Grafana's webhook contact point: Alertmanager’s group, with Grafana's members. */
export function readGrafana(body: unknown): Reading {
  const { groupKey, status, state, externalURL, ...group } = fieldsOf(body)
  // Until version 9, alerting without Alertmanager tested with rule 0 (https://grafana.com/docs/grafana/v8.5/alerting/old-alerting/).
  if (group['ruleId'] === 0 && group['ruleName'] === 'Test notification') return test('Grafana')
  if (typeof groupKey !== 'string' || !Array.isArray(group['alerts']))
    return unreadable('This is not an alert of a Grafana webhook contact point.')
  return readGroup({
    ...group,
    groupKey,
    status: status ?? (state === 'ok' ? 'resolved' : 'firing'),
    link: externalURL,
  })
}
