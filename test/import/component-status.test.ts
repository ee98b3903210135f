import { describe, expect, test } from 'vitest'
import type { Source } from '../../src/import/source-names.ts'
import { translate } from '../../src/import/sources.ts'

/** Returns the statuses of imported services, by name. */
function statusesOf(source: Source, file: object): Readonly<Record<string, unknown>> {
  const { objects } = translate({ source, name: '' }, JSON.stringify(file))
  const named = [...objects.services.values()].map(({ name, status }) => [name, status] as const)
  return Object.fromEntries(named.filter(([, status]) => status !== undefined))
}

const time = '2026-11-20T10:00:00.000Z'
const later = '2026-11-21T10:00:00.000Z'

describe('the statuses of components', () => {
  const components = [
    { id: 'a', name: 'A', status: 'operational' },
    { id: 'b', name: 'B', status: 'major_outage' },
    { id: 'c', name: 'C', status: 'under_maintenance' },
    { id: 'd', name: 'D' },
    { id: 'e', name: 'E', status: 'on_fire' },
  ]

  test('are stated for the services; a component without a known one states nothing', () => {
    const expected = { A: 'OPERATIONAL', B: 'MAJOR_OUTAGE', C: 'UNDER_MAINTENANCE' }
    expect(statusesOf('statuspage', { page: { id: 'p' }, components })).toEqual(expected)
    const same = (name: string, status?: unknown) => ({ id: name, name, ...(status !== undefined && { status }) })
    const instatus = [same('A', 'OPERATIONAL'), same('B', 'MAJOROUTAGE'), same('C', 'UNDERMAINTENANCE'), same('D')]
    expect(statusesOf('instatus', { components: instatus })).toEqual(expected)
    const cachet = { components: { data: [same('A', 1), same('B', 4), same('D'), same('E', 9)] } }
    expect(statusesOf('cachet', cachet)).toEqual({ A: 'OPERATIONAL', B: 'MAJOR_OUTAGE' })
    const resource = (id: string, status: string) => ({ id, attributes: { public_name: id, status } })
    const resources = [resource('A', 'operational'), resource('B', 'downtime'), resource('D', 'not_monitored')]
    expect(statusesOf('betterstack', { data: [], resources })).toEqual({ A: 'OPERATIONAL', B: 'MAJOR_OUTAGE' })
  })

  test.each([
    ['an open incident', { incidents: [{ status: 'investigating', resolved_at: null }] }, 'OPERATIONAL'],
    ['a resolved incident', { incidents: [{ status: 'resolved', resolved_at: later }] }, 'MAJOR_OUTAGE'],
    ['running maintenance', { scheduled_maintenances: [{ status: 'in_progress' }] }, 'OPERATIONAL'],
    ['planned maintenance', { scheduled_maintenances: [{ status: 'scheduled' }] }, 'MAJOR_OUTAGE'],
  ] as const)('are left to %s that names the component', (_, records, expected) => {
    const affected = [{ id: 'b', name: 'B', status: 'major_outage' }]
    const times = { created_at: time, started_at: time, scheduled_for: time, scheduled_until: later }
    const filled = Object.entries(records).map(([section, list]) => {
      const { scheduled_for, scheduled_until, ...incident } = times
      const own = section === 'incidents' ? incident : times
      return [section, list.map((record: object) => ({ id: 'r', name: 'R', components: affected, ...own, ...record }))]
    })
    const file = { page: { id: 'p' }, components, ...Object.fromEntries(filled) }
    const caused = { A: 'OPERATIONAL', B: expected, C: 'UNDER_MAINTENANCE' }
    expect(statusesOf('statuspage', file)).toEqual(caused)
  })
})
