import { describe, expect, test } from 'vitest'
import { fileOf, looksLikeAnother, readName, withInstallation } from '../../src/import/installation.ts'
import { Draft } from '../../src/import/translation.ts'

describe('an installation', () => {
  test.each([
    ['', ''],
    [' default ', ''],
    ['Office', 'office'],
    ['eu-1', 'eu-1'],
    ['a b', null],
    ['-a', null],
    ['a'.repeat(21), null],
  ])('named %j is %j', (typed, name) => {
    expect(readName(typed)).toBe(name)
  })

  test('without a name keeps the keys and the file of earlier imports', () => {
    const draft = { ...new Draft(), hasVariables: false }
    expect(withInstallation(draft, { source: 'cachet', name: '' })).toBe(draft)
    expect(fileOf({ source: 'cachet', name: '' })).toBe('import from cachet')
    expect(fileOf({ source: 'cachet', name: 'eu' })).toBe('import from cachet eu')
  })

  test('with a name has its own keys everywhere', () => {
    const draft = new Draft()
    const long = `cachet-${'a'.repeat(32)}-12345678`
    draft.objects.groups.set('cachet-2', { name: 'Core' })
    draft.objects.services.set('cachet-1', { name: 'API', group: 'cachet-2' })
    draft.objects.services.set(long, { name: 'Long' })
    draft.objects.monitors.set('cachet-1', { name: 'API', service: 'cachet-1' })
    draft.objects.pages.set('cachet-9', { slug: 'a', services: ['cachet-1'] })
    draft.pausedMonitors.push('cachet-1')
    draft.records.histories.push({ key: 'cachet-1', days: '{}' })
    const updates = [
      {
        at: '',
        status: 'RESOLVED' as const,
        message: '',
        services: [{ key: 'cachet-1', status: 'OPERATIONAL' as const }],
      },
    ]
    draft.records.incidents.push({
      ...{ id: '1', title: 'Slow', impact: 'MINOR', startedAt: '', resolvedAt: null, postmortem: null },
      updates,
    })
    draft.records.subscribers.push({ address: 'a@a.example', services: ['cachet-1'] })
    const name = 'eu'
    const { objects, records, pausedMonitors } = withInstallation(
      { ...draft, hasVariables: false },
      { source: 'cachet', name },
    )
    const key = 'cachet_eu_1'
    expect(objects.services.get(key)).toEqual({ name: 'API', group: 'cachet_eu_2' })
    expect(objects.monitors.get(key)).toEqual({ name: 'API', service: key })
    expect(objects.pages.get('cachet_eu_9')).toEqual({ slug: 'a', services: [key] })
    expect(pausedMonitors).toEqual([key])
    expect(records.histories.map((each) => each.key)).toEqual([key])
    expect(records.incidents[0]?.updates[0]?.services).toEqual([{ key, status: 'OPERATIONAL' }])
    expect(records.subscribers).toEqual([{ address: 'a@a.example', services: [key] }])
    // Keys of the maximum length still differ for different names.
    const inLong = (other: string) =>
      [
        ...withInstallation({ ...draft, hasVariables: false }, { source: 'cachet', name: other.padEnd(20, 'x') })
          .objects.services,
      ][1]?.[0] ?? ''
    expect([inLong('a').length, inLong('a') === inLong('b')]).toEqual([63, false])
    for (const each of [inLong('a'), inLong('b')]) expect(each).toMatch(/^[a-z0-9]+(?:[-_][a-z0-9]+)*$/)
  })

  test.each([
    // New services are no evidence.
    [3, 'CREATE CREATE CREATE', false],
    [3, '', false],
    [3, 'name', false],
    [3, 'name name', true],
    [4, 'name name', false],
    // A known service with another name: renames happen.
    [3, 'CREATE CREATE name', false],
    [3, 'CREATE name name', true],
    [3, 'group group group', false],
  ])('with %i services, planned as “%s”, looks like another one: %s', (services, planned, expected) => {
    const changes = planned
      .split(' ')
      .filter(Boolean)
      .map((each) =>
        each === 'CREATE'
          ? { action: 'CREATE', section: 'services', members: [{ name: 'name' }] }
          : { action: 'UPDATE', section: 'services', members: [{ name: each }] },
      )
    const others = [{ action: 'UPDATE', section: 'monitors', members: [{ name: 'name' }] }]
    expect(looksLikeAnother({ services, changes: [...changes, ...others, ...others] })).toBe(expected)
  })
})
