import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR } from '../../../src/core/time.ts'
import {
  eachLocalStart,
  formatRule,
  friendlyRule,
  nextDates,
  parseRule,
  planAhead,
  ruleInWords,
  untilOf,
} from '../../../src/status/maintenance/recurrence.ts'

async function starts(rule: string, from: string, count: number): Promise<string[]> {
  const found: string[] = []
  await eachLocalStart(rule, from, (local) => found.push(local) < count)
  return found
}

const series = (rule: string, anchor: string, timeZone = 'Europe/Berlin') => ({
  timeZone,
  rule,
  anchor,
  durationMinutes: 60,
  until: null,
  skipped: [] as string[],
})
const next = async (of: ReturnType<typeof series>, now: string, limit: number) =>
  (await nextDates(of, new Date(now), limit)).dates.map(({ startsAt }) => startsAt.toISOString().slice(0, 16))

describe('the dates of a rule', () => {
  test.each([
    ['FREQ=WEEKLY;BYDAY=SU', '2026-01-01T02:00', ['2026-01-04T02:00', '2026-01-11T02:00']],
    [
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR',
      '2026-01-05T02:00',
      ['2026-01-05T02:00', '2026-01-09T02:00', '2026-01-19T02:00'],
    ],
    ['FREQ=MONTHLY;BYDAY=2TU', '2026-01-01T22:30', ['2026-01-13T22:30', '2026-02-10T22:30']],
    ['FREQ=MONTHLY;BYMONTHDAY=31', '2026-01-01T02:00', ['2026-01-31T02:00', '2026-03-31T02:00', '2026-05-31T02:00']],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', '2026-01-01T02:00', ['2026-01-31T02:00', '2026-02-28T02:00']],
    ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1', '2026-01-01T02:00', ['2026-01-30T02:00', '2026-02-27T02:00']],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29', '2026-01-01T02:00', ['2028-02-29T02:00', '2032-02-29T02:00']],
    ['FREQ=DAILY', '2026-12-31T23:59', ['2026-12-31T23:59', '2027-01-01T23:59']],
  ])('%s from %s', async (rule, from, expected) => {
    expect(await starts(rule, from, expected.length)).toEqual(expected)
  })

  test.each([
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31',
    'FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=31',
    'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=WEEKLY;BYMONTH=2;BYDAY=MO;BYSETPOS=7',
    'FREQ=MONTHLY;BYDAY=6MO',
  ])('%s has none, which is detected', async (rule) => {
    expect(await starts(rule, '2026-01-01T02:00', 1)).toEqual([])
  })

  test.each([
    ['FREQ=DAILY;INTERVAL=2', 2],
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=MO', 14],
  ])('of %s continue evenly', async (rule, days) => {
    const found = await starts(rule, '2026-01-05T02:00', 60)
    const expected = Array.from({ length: 60 }, (_, nth) => new Date(Date.UTC(2026, 0, 5, 2) + nth * days * DAY))
    expect(found).toEqual(expected.map((at) => at.toISOString().slice(0, 16)))
  })

  test('agree with a naive reference', async () => {
    const weekday = fc.constantFrom('MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU')
    const names = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 1500 }),
        fc.uniqueArray(weekday, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 28 }),
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY'),
        async (offset, days, monthDay, interval, frequency) => {
          const from = Date.UTC(2026, 0, 5) + offset * DAY
          const begun = new Date(from)
          const monday = from - ((begun.getUTCDay() + 6) % 7) * DAY
          const months = (at: Date) => at.getUTCFullYear() * 12 + at.getUTCMonth()
          const matches = (at: Date) => {
            if (frequency === 'DAILY') return ((+at - from) / DAY) % interval === 0
            if (frequency === 'MONTHLY')
              return at.getUTCDate() === monthDay && (months(at) - months(begun)) % interval === 0
            return (
              days.some((day) => day === names[at.getUTCDay()]) &&
              Math.floor((+at - monday) / (7 * DAY)) % interval === 0
            )
          }
          const by = { DAILY: '', WEEKLY: `;BYDAY=${days.join(',')}`, MONTHLY: `;BYMONTHDAY=${monthDay}` }[frequency]
          const expected: string[] = []
          for (let at = from; expected.length < 4; at += DAY)
            if (matches(new Date(at))) expected.push(`${new Date(at).toISOString().slice(0, 10)}T02:00`)
          const rule = `FREQ=${frequency};INTERVAL=${interval}${by}`
          expect(await starts(rule, `${begun.toISOString().slice(0, 10)}T02:00`, 4)).toEqual(expected)
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('clock changes', () => {
  test.each([
    // Berlin: 29 March 2026 02:00 → 03:00; 25 October 2026 03:00 → 02:00.
    [
      'stays at two in the morning in spring; a skipped time is an hour later',
      '2026-03-22T02:00',
      '2026-03-20T00:00Z',
      ['2026-03-22T01:00', '2026-03-29T01:00', '2026-04-05T00:00'],
    ],
    [
      'the time after a skipped one does not change',
      '2026-03-22T02:30',
      '2026-03-20T00:00Z',
      ['2026-03-22T01:30', '2026-03-29T01:30', '2026-04-05T00:30'],
    ],
    [
      'of a time that occurs twice in autumn, the first counts',
      '2026-10-18T02:30',
      '2026-10-16T00:00Z',
      ['2026-10-18T00:30', '2026-10-25T00:30', '2026-11-01T01:30'],
    ],
    ['stays at four', '2026-10-18T04:00', '2026-10-16T00:00Z', ['2026-10-18T02:00', '2026-10-25T03:00']],
  ])('%s', async (_name, anchor, now, expected) => {
    expect(await next(series('FREQ=WEEKLY;BYDAY=SU', anchor), now, expected.length)).toEqual(expected)
  })

  test('do not matter in UTC', async () => {
    expect(await next(series('FREQ=WEEKLY', '2026-03-22T02:00', 'UTC'), '2026-03-20T00:00Z', 2)).toEqual([
      '2026-03-22T02:00',
      '2026-03-29T02:00',
    ])
  })
})

describe('the next dates', () => {
  test('are those that have not ended, without skipped dates and dates after the end; the anchor includes skipped dates', async () => {
    const of = {
      ...series('FREQ=DAILY', '2026-01-01T02:00', 'UTC'),
      skipped: ['2026-01-03T02:00', '2026-01-05T02:00'],
      until: new Date('2026-01-06T02:00Z'),
    }
    const { dates, anchor } = await nextDates(of, new Date('2026-01-03T02:59Z'), 10)
    expect(dates.map(({ local }) => local)).toEqual(['2026-01-04T02:00', '2026-01-06T02:00'])
    expect(anchor).toBe('2026-01-03T02:00')
    expect((await nextDates(of, new Date('2026-01-06T03:00Z'), 10)).dates).toEqual([])
  })

  test('are scheduled before the first is over when the next comes within 35 days', () => {
    const now = new Date('2026-01-01T00:00Z')
    const dates = [10, 40].map((days) => ({ local: `${days}`, startsAt: new Date(+now + days * DAY) }))
    expect(planAhead(dates, 60, now)).toEqual({ wanted: dates.slice(0, 1), dueAt: new Date(+now + 5 * DAY) })
  })

  test.each([
    ['daily: three', 1, 3, 0, HOUR],
    ['weekly: three', 7, 3, 0, HOUR],
    ['every 20 days: two, and the third when it is 35 days away', 20, 2, 1, 40 * DAY - 35 * DAY],
    ['every 90 days: one, always', 90, 1, 1, HOUR],
  ])('%s are scheduled', (_name, days, wanted, _further, due) => {
    const now = new Date('2026-01-01T02:00Z')
    const dates = [0, 1, 2, 3].map((nth) => ({ local: `${nth}`, startsAt: new Date(+now + nth * days * DAY) }))
    const planned = planAhead(dates, 60, now)
    expect(planned.wanted).toHaveLength(wanted)
    expect(planned.dueAt).toEqual(new Date(+now + Math.min(due, HOUR)))
  })

  test('end', () => {
    expect(planAhead([], 60, new Date())).toEqual({ wanted: [], dueAt: null })
  })
})

describe('a rule', () => {
  test.each([
    ['rrule:freq=weekly;byday=su', 'FREQ=WEEKLY;BYDAY=SU'],
    ['FREQ=MONTHLY;BYDAY=-1FR;INTERVAL=3', 'FREQ=MONTHLY;INTERVAL=3;BYDAY=-1FR'],
    ['BYMONTHDAY=15,1,1;FREQ=MONTHLY;UNTIL=20261231', 'FREQ=MONTHLY;BYMONTHDAY=1,15'],
  ])('%s is %s', (text, rule) => {
    expect(formatRule(parseRule(text).recurrence)).toBe(rule)
  })

  test.each([
    '',
    'weekly',
    'FREQ=HOURLY',
    'FREQ=DAILY;BYHOUR=1,2',
    'FREQ=DAILY;FREQ=DAILY',
    'FREQ=DAILY;INTERVAL=0',
    'FREQ=DAILY;INTERVAL=367',
    'FREQ=DAILY;COUNT=366',
    'FREQ=DAILY;COUNT=2;UNTIL=20261231',
    'FREQ=DAILY;UNTIL=tomorrow',
    'FREQ=WEEKLY;BYDAY=XX',
    'FREQ=WEEKLY;BYDAY=2MO',
    'FREQ=WEEKLY;BYMONTHDAY=2',
    'FREQ=MONTHLY;BYMONTHDAY=32',
    'FREQ=MONTHLY;BYSETPOS=1',
    `FREQ=MONTHLY;BYMONTHDAY=${'1,'.repeat(200)}1`,
    'FREQ=DAILY\r\nDTSTART:20200101T000000Z',
  ])('%s is refused', (text) => {
    expect(() => parseRule(text)).toThrow(/rule/)
  })

  test.each([
    ['FREQ=DAILY', 'Every day at 02:00'],
    ['FREQ=DAILY;INTERVAL=3', 'Every 3 days at 02:00'],
    ['FREQ=WEEKLY', 'Every Thursday at 02:00'],
    ['FREQ=WEEKLY;BYDAY=SU', 'Every Sunday at 02:00'],
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR', 'Every other week on Monday and Friday at 02:00'],
    ['FREQ=MONTHLY', 'Every month on day 1 at 02:00'],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', 'Every month on its last day at 02:00'],
    ['FREQ=MONTHLY;BYDAY=2TU', 'Every month on the second Tuesday at 02:00'],
    ['FREQ=YEARLY', 'Every year on 1 January at 02:00'],
    ['FREQ=YEARLY;BYDAY=20MO', 'Repeats on a custom schedule at 02:00'],
  ])('%s in words: %s', (rule, words) => {
    expect(ruleInWords(rule, '2026-01-01T02:00')).toBe(words)
  })

  test.each([
    [{ repeat: 'WEEKLY', days: ['MO', 'SU'] }, 'FREQ=WEEKLY;BYDAY=MO,SU'],
    [{ repeat: 'DAILY', interval: '2', until: '2026-12-31' }, 'FREQ=DAILY;INTERVAL=2;UNTIL=20261231'],
    [{ repeat: 'MONTHLY' }, 'FREQ=MONTHLY;BYMONTHDAY=8'],
    [{ repeat: 'MONTHLY_WEEKDAY' }, 'FREQ=MONTHLY;BYDAY=2SU'],
    [{ repeat: 'MONTHLY_WEEKDAY', local: '2026-11-29T02:00' }, 'FREQ=MONTHLY;BYDAY=-1SU'],
  ])('by choices %j is %s', (choices, rule) => {
    const given = friendlyRule({ interval: '1', days: [], until: '', local: '2026-11-08T02:00', ...choices })
    expect(given).toBe(rule)
    expect(() => parseRule(given)).not.toThrow()
  })

  test.each([
    ['20261231', '2026-12-31T22:59:59.000Z'],
    ['20261231T020000', '2026-12-31T01:00:00.000Z'],
    ['20261231T020000Z', '2026-12-31T02:00:00.000Z'],
  ])('UNTIL=%s in Berlin is %s', (until, at) => {
    expect(untilOf(until, 'Europe/Berlin').toISOString()).toBe(at)
  })
})
