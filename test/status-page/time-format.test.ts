import { describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { wordsOf } from '../../src/language/catalogue.ts'
import {
  addMonths,
  formatDuration,
  monthKey,
  monthName,
  monthOf,
  parseMonth,
  startOfMonth,
  zoneOf,
} from '../../src/status-page/time-format.ts'

const lateInYear = new Date('2026-12-31T23:30:00Z')

describe('a time zone', () => {
  test('formats times', () => {
    const berlin = zoneOf('Europe/Berlin')
    expect(berlin.time(lateInYear)).toBe('1 Jan 2027, 00:30 CET')
    expect(berlin.clock(lateInYear)).toBe('00:30 CET')
    expect(berlin.day(lateInYear)).toBe('Friday, 1 January 2027')
    expect(berlin.dayKey(lateInYear)).toBe('2027-01-01')
    expect(zoneOf('UTC').time(lateInYear)).toBe('31 Dec 2026, 23:30 UTC')
  })

  test('determines the month of a time', () => {
    expect(monthOf(lateInYear, zoneOf('UTC'))).toEqual({ year: 2026, month: 12 })
    expect(monthOf(lateInYear, zoneOf('Asia/Tokyo'))).toEqual({ year: 2027, month: 1 })
  })

  test.each([
    ['UTC', '2026-11', '2026-11-01T00:00:00.000Z'],
    ['Europe/Berlin', '2026-07', '2026-06-30T22:00:00.000Z'],
    ['America/New_York', '2026-11', '2026-11-01T04:00:00.000Z'],
    ['Asia/Kathmandu', '2026-01', '2025-12-31T18:15:00.000Z'],
    // Clocks changed in the first hours of the month.
    ['Australia/Lord_Howe', '2012-04', '2012-03-31T13:00:00.000Z'],
    ['Pacific/Kiritimati', '2026-03', '2026-02-28T10:00:00.000Z'],
  ])('in %s begins %s at %s', (timeZone, month, begins) => {
    const parsed = parseMonth(month)
    if (!parsed) throw new Error('The test has no month.')
    expect(startOfMonth(parsed, timeZone).toISOString()).toBe(begins)
  })
})

describe('a month', () => {
  test('is parsed only from an exact match', () => {
    expect(parseMonth('2026-11')).toEqual({ year: 2026, month: 11 })
    for (const text of ['', '2026', '2026-13', '2026-00', '2026-1', '26-01', '2026-11-01', ' 2026-11', '2026-11\n'])
      expect(parseMonth(text)).toBeNull()
  })

  test('has a name and a key', () => {
    expect(monthKey({ year: 2026, month: 3 })).toBe('2026-03')
    expect(monthName({ year: 2026, month: 3 }, wordsOf('EN'))).toBe('March 2026')
  })

  test('has neighbours across the ends of years', () => {
    expect(addMonths({ year: 2026, month: 12 }, 1)).toEqual({ year: 2027, month: 1 })
    expect(addMonths({ year: 2026, month: 1 }, -1)).toEqual({ year: 2025, month: 12 })
    expect(addMonths({ year: 2026, month: 6 }, -30)).toEqual({ year: 2023, month: 12 })
  })
})

test.each([
  [0, 'under a minute'],
  [59_999, 'under a minute'],
  [MINUTE, '1 min'],
  [HOUR, '1 h'],
  [2 * HOUR + 5 * MINUTE, '2 h 5 min'],
  [DAY, '1 d'],
  [3 * DAY + 4 * HOUR + 59 * MINUTE, '3 d 4 h'],
  [-5, 'under a minute'],
])('%i ms are %s', (milliseconds, words) => {
  expect(formatDuration(milliseconds)).toBe(words)
})
