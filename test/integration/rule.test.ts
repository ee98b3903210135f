import { expect, test } from 'vitest'
import { route } from '../../src/integration/rule.ts'

const alert = { severity: 'ERROR', labels: { service: 'shop', env: 'prod-eu' } } as const
const label = (name: string, value: string) => [{ name, value }]

test.each([
  ['no rules', [], { mode: 'SUGGEST', impact: 'MAJOR', services: [] }],
  ['no match', [{ labels: label('service', 'api') }], null],
  ['a label that is missing', [{ labels: label('team', '*') }], null],
  ['a label of Object', [{ labels: label('constructor', '*') }], null],
  [
    'a rule for all',
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
