import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR } from '../../src/core/time.ts'
import { dayIn, daysUpTo, formatLocalTime, parseLocalTime, startOfDay } from '../../src/core/time-zone.ts'

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'America/Havana',
  'America/Sao_Paulo',
  'Africa/Cairo',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
]
const hoursOf = (zone: string, day: string) =>
  (startOfDay(zone, new Date(Date.parse(day) + DAY)).getTime() - startOfDay(zone, new Date(day)).getTime()) / HOUR

describe('a calendar day in a time zone', () => {
  test.each([
    ['UTC', '2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['Europe/Berlin', '2026-11-20', '2026-11-19T23:00:00.000Z'],
    ['Asia/Kathmandu', '2026-11-20', '2026-11-19T18:15:00.000Z'],
    ['Asia/Kolkata', '2026-11-20', '2026-11-19T18:30:00.000Z'],
    // No midnight: clocks go from 0:00 to 1:00.
    ['America/Havana', '2026-03-08', '2026-03-08T05:00:00.000Z'],
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z'],
    // Two midnights: clocks go from 1:00 to 0:00.
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z'],
  ])('in %s begins %s at %s', (zone, day, begins) => {
    expect(startOfDay(zone, new Date(day)).toISOString()).toBe(begins)
  })

  test('has 23, 25 or another number of hours when clocks change', () => {
    expect(hoursOf('Europe/Berlin', '2026-03-29')).toBe(23)
    expect(hoursOf('Europe/Berlin', '2026-10-25')).toBe(25)
    expect(hoursOf('Europe/Berlin', '2026-10-26')).toBe(24)
    expect(hoursOf('Australia/Lord_Howe', '2026-10-04')).toBe(23.5)
    expect(hoursOf('America/Havana', '2026-03-08')).toBe(23)
    expect(hoursOf('America/Havana', '2026-11-01')).toBe(25)
    // Samoa crossed the date line: this day was skipped.
    expect(hoursOf('Pacific/Apia', '2011-12-30')).toBe(0)
  })

  test('contains every moment from its start to the next day', () => {
    const moment = fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2037, 0) })
    fc.assert(
      fc.property(fc.constantFrom(...zones), moment, (zone, at) => {
        const day = dayIn(zone, new Date(at))
        const next = new Date(day.getTime() + DAY)
        const [from, to] = [startOfDay(zone, day).getTime(), startOfDay(zone, next).getTime()]
        expect(dayIn(zone, new Date(from)).getTime()).toBeGreaterThanOrEqual(day.getTime())
        expect(dayIn(zone, new Date(from - 1)).getTime()).toBeLessThan(day.getTime())
        // Where clocks go back across midnight, an hour of the day before repeats.
        const repeated = zone === 'America/St_Johns' ? HOUR : 0
        expect(at).toBeGreaterThanOrEqual(from)
        expect(at).toBeLessThan(to + repeated)
      }),
      { numRuns: 300 },
    )
  })

  test('throws for an unknown time zone', () => {
    expect(() => dayIn('Europe/Atlantis', new Date(0))).toThrow(RangeError)
  })
})

test('daysUpTo ends with the last day', () => {
  const days = daysUpTo(new Date('2026-03-01'), 3).map((day) => day.toISOString().slice(0, 10))
  expect(days).toEqual(['2026-02-27', '2026-02-28', '2026-03-01'])
})

describe('a local time', () => {
  test.each([
    ['UTC', '2026-11-22T03:00', '2026-11-22T03:00:00.000Z'],
    ['Europe/Berlin', '2026-07-01T03:00', '2026-07-01T01:00:00.000Z'],
    ['Europe/Berlin', '2026-07-01T03:00:30', '2026-07-01T01:00:30.000Z'],
    ['Asia/Kathmandu', '2026-11-22T03:00', '2026-11-21T21:15:00.000Z'],
    // Clocks go from 2:00 to 3:00.
    ['Europe/Berlin', '2026-03-29T01:59', '2026-03-29T00:59:00.000Z'],
    ['Europe/Berlin', '2026-03-29T02:30', '2026-03-29T01:30:00.000Z'],
    ['Europe/Berlin', '2026-03-29T03:30', '2026-03-29T01:30:00.000Z'],
    ['America/New_York', '2026-03-08T02:30', '2026-03-08T07:30:00.000Z'],
    ['Australia/Lord_Howe', '2026-10-04T02:10', '2026-10-03T15:40:00.000Z'],
    // A whole day was skipped.
    ['Pacific/Apia', '2011-12-30T12:00', '2011-12-30T22:00:00.000Z'],
    // Clocks go from 3:00 to 2:00: the first of two.
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00.000Z'],
    ['Europe/Berlin', '2026-10-25T03:00', '2026-10-25T02:00:00.000Z'],
    ['America/New_York', '2026-11-01T01:30', '2026-11-01T05:30:00.000Z'],
  ])('in %s, %s is %s', (zone, text, expected) => {
    expect(parseLocalTime(zone, text)?.toISOString()).toBe(expected)
  })

  test.each([
    '',
    'yesterday',
    '2026-11-22',
    '2026-11-22 03:00',
    '2026-13-01T03:00',
    '2026-02-29T03:00',
    '2026-11-22T24:00',
    '2026-11-22T03:60',
    '0026-11-22T03:00',
    '2026-11-22T03:00Z',
  ])('is not %j', (text) => {
    expect(parseLocalTime('Europe/Berlin', text)).toBeNull()
  })

  test('is read as it was written, except for the second of two equal ones', () => {
    const times = fc.date({ min: new Date('1990-01-01'), max: new Date('2037-01-01'), noInvalidDate: true })
    const check = fc.property(fc.constantFrom(...zones), times, (zone, at) => {
      const text = formatLocalTime(zone, at)
      const read = parseLocalTime(zone, text)
      return read !== null && formatLocalTime(zone, read) === text && read <= at
    })
    fc.assert(check)
  })
})
