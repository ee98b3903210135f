import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY, MINUTE } from '../../../src/core/time.ts'
import { readOptions } from '../../../src/monitoring/monitor/options.ts'
import { cronProblem, nextRun } from '../../../src/monitoring/watch/cron.ts'
import { closed } from '../../support/private-targets.ts'

/** Returns the next dates of a schedule after a time, in minutes. */
function dates(expression: string, timeZone: string, after: string, count: number): string[] {
  const found: string[] = []
  let last = new Date(`${after}:00Z`)
  while (found.length < count) {
    last = nextRun({ expression, timeZone }, last) ?? new Date(Number.NaN)
    found.push(last.toISOString().slice(0, 16))
  }
  return found
}

describe('a schedule', () => {
  test.each([
    ['Europe/Berlin', '30 2 * * *', '2026-03-28T00:00', ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30']],
    ['Europe/Berlin', '30 2 * * *', '2026-10-24T00:00', ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30']],
    [
      'America/New_York',
      '30 2 * * *',
      '2026-03-07T00:00',
      ['2026-03-07T07:30', '2026-03-08T07:00', '2026-03-09T06:30'],
    ],
    [
      'America/New_York',
      '30 1 * * *',
      '2026-10-31T00:00',
      ['2026-10-31T05:30', '2026-11-01T05:30', '2026-11-02T06:30'],
    ],
    [
      'Australia/Lord_Howe',
      '0 12 * * *',
      '2026-10-03T00:00',
      ['2026-10-03T01:30', '2026-10-04T01:00', '2026-10-05T01:00'],
    ],
  ])('with a time of day in %s runs once on a day when clocks change: %s', (zone, expression, after, expected) => {
    expect(dates(expression, zone, after, 3)).toEqual(expected)
  })

  test.each([
    ['Europe/Berlin', '2026-03-28T22:00'],
    ['Europe/Berlin', '2026-10-24T22:00'],
    ['America/New_York', '2026-03-08T04:00'],
    ['America/New_York', '2026-11-01T03:00'],
  ])('by the minute continues in %s when clocks change after %s', (zone, after) => {
    const begun = Date.parse(`${after}:00Z`)
    const expected = Array.from({ length: 24 }, (_, index) =>
      new Date(begun + (index + 1) * 30 * MINUTE).toISOString().slice(0, 16),
    )
    expect(dates('*/30 * * * *', zone, after, 24)).toEqual(expected)
  })

  test('counts a time that clocks show twice only once, even after the second occurrence', () => {
    const schedule = { expression: '30 1 * * *', timeZone: 'America/New_York' }
    for (const after of ['05:30', '06:10', '06:45'])
      expect(nextRun(schedule, new Date(`2026-11-01T${after}:00Z`))).toEqual(new Date('2026-11-02T06:30:00Z'))
  })

  test.each([
    // Either field begins with a star: both must match.
    ['4 3 */2 * 6', ['2026-01-03', '2026-01-17', '2026-01-31']],
    ['4 3 */2 * sat', ['2026-01-03', '2026-01-17', '2026-01-31']],
    ['4 3 13 * */5', ['2026-02-13', '2026-03-13', '2026-09-13']],
    ['4 3 *,13 * 7', ['2026-01-04', '2026-01-11', '2026-01-18']],
    ['4 3 1-7 * *', ['2026-01-01', '2026-01-02', '2026-01-03']],
    ['4 3 * * 0', ['2026-01-04', '2026-01-11', '2026-01-18']],
    ['4 3 ? * 0', ['2026-01-04', '2026-01-11', '2026-01-18']],
    // Neither does: one is enough.
    ['4 3 1-31/2 * 6', ['2026-01-01', '2026-01-03', '2026-01-05']],
    ['4 3 13,* * 0', ['2026-01-01', '2026-01-02', '2026-01-03']],
    ['4 3 13 * 5', ['2026-01-02', '2026-01-09', '2026-01-13']],
  ])('runs on the days of Debian’s cron and cronie: %s', (expression, days) => {
    expect(dates(expression, 'UTC', '2026-01-01T00:00', 3)).toEqual(days.map((day) => `${day}T03:04`))
  })

  test('runs on the days of Debian’s cron and cronie, whatever the fields', () => {
    fc.assert(
      fc.property(dayField(1, 31), dayField(1, 12), dayField(0, 7), fc.nat(3000), (day, month, weekday, offset) => {
        const expression = `4 3 ${day} ${month} ${weekday}`
        const after = Date.UTC(2024, 0, 1) + offset * DAY
        const expected = Array.from({ length: 1500 }, (_, index) => new Date(after + index * DAY)).find((date) =>
          runsOn(date, { day, month, weekday }),
        )
        fc.pre(expected !== undefined)
        const found = nextRun({ expression, timeZone: 'UTC' }, new Date(after))
        expect(found?.toISOString()).toBe(new Date(Number(expected) + 184 * MINUTE).toISOString())
      }),
      { numRuns: 400 },
    )
  })

  test('@reboot is refused with the reason', () => {
    for (const expression of ['@reboot', ' @Reboot ']) expect(cronProblem(expression)).toContain('start of a machine')
  })

  test.each(['30 2 * * 1-5', '@daily', '*/5 8-18 * * MON-FRI', '0 0 L * *', '0 0 * * 7', '5,10 1-5/2 1 JAN *'])(
    'can be %s',
    (expression) => expect(cronProblem(expression)).toBeNull(),
  )

  test.each([
    '',
    'x',
    '* * * *',
    '* * * * * *',
    '61 * * * *',
    '@reboot',
    '2026-01-01T00:00:00',
    '* * * * * * 2026',
    '0 0 31 2 *',
    '0 0 29 2 *',
  ])('rejects "%s"', (expression) => expect(cronProblem(expression)).not.toBeNull())

  test('is validated together with its time zone, and errors name its field', () => {
    const read = (heartbeat: object) => () => readOptions(closed, { heartbeat })
    expect(read({ schedule: ' 0 3 * * * ', timeZone: 'Asia/Tokyo' })().options).toMatchObject({ schedule: '0 3 * * *' })
    expect(read({ schedule: '61 * * * *' })).toThrow('heartbeat.schedule: must be a cron expression')
    expect(read({ schedule: '@daily', timeZone: 'Mars/Base' })).toThrow('heartbeat.timeZone')
    expect(read({ timeZone: 'Asia/Tokyo' })).toThrow('heartbeat.timeZone: must be given with a schedule')
    expect(read({ schedule: `0 ${'0,'.repeat(100)}0 * * *` })).toThrow('heartbeat.schedule')
  })
})

/** Any valid field of days or months: stars, numbers, ranges, steps and lists. */
function dayField(least: number, most: number): fc.Arbitrary<string> {
  const step = fc.integer({ min: 1, max: most - least })
  const number = fc.integer({ min: least, max: most })
  const range = fc.tuple(number, number).map((ends) => ends.toSorted((one, other) => one - other).join('-'))
  const part = fc.oneof(
    fc.constant('*'),
    number.map(String),
    range,
    step.map((every) => `*/${every}`),
    fc.tuple(range, step).map((both) => both.join('/')),
  )
  return fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(','))
}

/** Decides by the rule of cronie’s `find_jobs` whether a job runs on a day. */
function runsOn(date: Date, fields: Readonly<Record<'day' | 'month' | 'weekday', string>>): boolean {
  const has = (field: string, least: number, most: number, value: number) =>
    field.split(',').some((part) => {
      const [range = '', step = '1'] = part.split('/')
      const [from = least, to = from] = range === '*' ? [least, most] : range.split('-').map(Number)
      return value >= from && value <= to && (value - from) % Number(step) === 0
    })
  const { day, month, weekday } = fields
  const isDay = has(day, 1, 31, date.getUTCDate())
  const isWeekday = has(weekday, 0, 7, date.getUTCDay()) || (date.getUTCDay() === 0 && has(weekday, 0, 7, 7))
  const needsBoth = day.startsWith('*') || weekday.startsWith('*')
  return has(month, 1, 12, date.getUTCMonth() + 1) && (needsBoth ? isDay && isWeekday : isDay || isWeekday)
}
