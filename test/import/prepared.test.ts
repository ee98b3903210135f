import { expect, test } from 'vitest'
import { linesOf, type Prepared, preparedIn } from '../../src/import/prepared.ts'
import { countTurns } from '../support/turns.ts'

const RECORDS = 30
const prepared: Prepared = {
  installation: { source: 'statuspage', name: 'office' },
  yaml: 'services:\n  - name: "A\u2028B"\n',
  variables: [{ name: 'TOKEN', value: 'line 1\nline 2' }],
  planHash: 'hash',
  pausedMonitors: ['a'],
  records: {
    histories: [{ key: 'a', name: 'A\nB', days: '{"since":"2026-01-01","up":[1]}' }],
    incidents: Array.from({ length: RECORDS }, (_, index) => ({
      json: JSON.stringify({ id: `i${index}`, text: '\n' }),
    })),
    maintenances: [],
    series: [],
    subscribers: [],
  } as unknown as Prepared['records'],
}

test('what was prepared is the same after it was written and read', async () => {
  expect(await preparedIn(await linesOf(prepared))).toEqual(prepared)
  const none = { ...prepared, records: { ...prepared.records, histories: [], incidents: [] } }
  expect(await preparedIn(await linesOf(none))).toEqual(none)
})

test('other work has its turn between the records, when they are written and when they are read', async () => {
  const { result, turns } = await countTurns(() => linesOf(prepared))
  expect(turns).toBeGreaterThanOrEqual(RECORDS)
  expect((await countTurns(() => preparedIn(result))).turns).toBeGreaterThanOrEqual(RECORDS)
})
