import { expect, test } from 'vitest'
import { route, routeMembers } from '../../src/integration/rule.ts'

const alert = { severity: 'ERROR', labels: { service: 'shop', env: 'prod-eu' } } as const
const label = (name: string, value: string) => [{ name, value }]

test.each([
  ['no rules', [], { mode: 'SUGGEST', impact: 'MAJOR', services: [] }],
  ['no match', [{ labels: label('service', 'api') }], null],
  ['a missing label', [{ labels: label('team', '*') }], null],
  ['a label of Object', [{ labels: label('constructor', '*') }], null],
  [
    'a rule for all alerts',
    [{ serviceId: 's1' }],
    { mode: 'SUGGEST', impact: 'MAJOR', services: [{ serviceId: 's1', status: 'PARTIAL_OUTAGE' }] },
  ],
  ['all labels', [{ labels: [...label('service', 'shop'), ...label('env', 'test')] }], null],
  ['a wildcard', [{ labels: label('env', 'pr*d-*'), mode: 'PUBLISH' }], { mode: 'PUBLISH' }],
  ['a wildcard that overlaps', [{ labels: label('service', 'sho*op') }], null],
  ['wildcards alone', [{ labels: label('service', '**') }], { mode: 'SUGGEST' }],
  [
    'several',
    [
      {
        labels: label('service', 'shop'),
        serviceId: 's1',
        status: 'DEGRADED_PERFORMANCE',
        impact: 'CRITICAL',
        mode: 'DRAFT',
      },
      { serviceId: 's2', mode: 'PUBLISH' },
      { serviceId: 's1', status: 'MAJOR_OUTAGE' },
    ],
    {
      mode: 'DRAFT',
      impact: 'CRITICAL',
      services: [
        { serviceId: 's1', status: 'DEGRADED_PERFORMANCE' },
        { serviceId: 's2', status: 'MAJOR_OUTAGE' },
      ],
    },
  ],
] as const)('%s', (_name, rules, expected) => {
  const found = route(rules as unknown as Parameters<typeof route>[0], alert)
  if (expected === null) expect(found).toBeNull()
  else expect(found).toMatchObject(expected)
})

test('members of a group share a routing per mode, with all services, the worst statuses and the greatest impact', () => {
  const of = (service: string, severity: 'CRITICAL' | 'INFO' | null) => ({ labels: { service }, severity })
  const rules = [
    { labels: label('service', 'shop'), serviceId: 's1', mode: 'PUBLISH' as const },
    { labels: label('service', 'cart'), serviceId: 's1', mode: 'PUBLISH' as const },
    { labels: label('service', 'mail'), serviceId: 's2' },
  ]
  expect(
    routeMembers(rules, [of('shop', 'INFO'), of('mail', null), of('cart', 'CRITICAL'), of('other', null)]),
  ).toEqual([
    { mode: 'PUBLISH', impact: 'CRITICAL', services: [{ serviceId: 's1', status: 'MAJOR_OUTAGE' }] },
    { mode: 'SUGGEST', impact: 'MINOR', services: [{ serviceId: 's2', status: 'DEGRADED_PERFORMANCE' }] },
  ])
  expect(routeMembers(rules, [of('other', null)])).toEqual([])
  expect(routeMembers([], [of('a', null), of('b', 'CRITICAL')])).toEqual([
    { mode: 'SUGGEST', impact: 'CRITICAL', services: [] },
  ])
})
