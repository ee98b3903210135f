import { describe, expect, test } from 'vitest'
import { type Figure, fallen, readLedger, writeLedger } from './ledger.ts'

const empty = `# Figures

| bench | figure | target | value | before | day | commit |
|---|---|---|---|---|---|---|

The end.
`
const queries: Figure = {
  bench: 'dns',
  what: 'queries of checks / bare queries',
  value: 0.61234,
  target: { least: 0.5 },
}
const start: Figure = {
  bench: 'start',
  what: 'warm start less 0.3 s, to bare opening',
  value: 1.4,
  target: { most: 1.5 },
}
const first = { day: '2026-11-27', commit: 'e772a4dc' }
const second = { day: '2026-11-28', commit: '28ea5cdf' }

describe('the table of figures', () => {
  test('keeps each figure with its target, its day and its commit', () => {
    expect(readLedger(writeLedger(empty, [start, queries], first))).toEqual([
      { ...queries, value: 0.612, before: null, ...first },
      { ...start, before: null, ...first },
    ])
  })

  test('keeps what was not measured anew, and the value before of what was', () => {
    const document = writeLedger(empty, [start, queries], first)
    const renewed = writeLedger(document, [{ ...queries, value: 0.7 }], second)
    expect(readLedger(renewed)).toEqual([
      { ...queries, value: 0.7, before: 0.612, ...second },
      { ...start, before: null, ...first },
    ])
    expect(renewed).toMatch(/^# Figures\n/)
    expect(renewed).toMatch(/\n\nThe end\.\n$/)
  })

  test('drops what a bench no longer measures', () => {
    const document = writeLedger(empty, [queries, { ...queries, what: 'old' }], first)
    expect(readLedger(writeLedger(document, [queries], second)).map(({ what }) => what)).toEqual([queries.what])
  })

  test('refuses two figures of one name, and a document without a table', () => {
    expect(() => writeLedger(empty, [queries, queries], first)).toThrow('Two figures are named dns | queries of checks')
    expect(() => writeLedger('# Figures', [queries], first)).toThrow('no table')
  })
})

describe('a figure', () => {
  const entries = readLedger(writeLedger(empty, [start, { ...queries, value: 0.5 }], first))

  test.each([
    ['has fallen by more than a fifth', { ...queries, value: 0.39 }, true],
    ['has fallen by less', { ...queries, value: 0.41 }, false],
    ['has risen', { ...queries, value: 0.9 }, false],
    ['takes more than a fifth longer', { ...start, value: 1.7 }, true],
    ['takes a little longer', { ...start, value: 1.6 }, false],
    ['takes less', { ...start, value: 0.7 }, false],
    ['is new', { ...queries, what: 'another', value: 0 }, false],
  ])('that %s', (_what, figure, isNamed) => {
    expect(fallen(entries, [figure]).map((each) => each.figure)).toEqual(isNamed ? [figure] : [])
  })
})
