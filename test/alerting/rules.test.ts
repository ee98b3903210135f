import { describe, expect, test } from 'vitest'
import type { QuietTimes } from '../../src/alerting/quiet-hours.ts'
import {
  isAlwaysQuiet,
  parseEnd,
  parseMinutes,
  quietColumnsOf,
  quietTimesOf,
  quietUntil,
} from '../../src/alerting/quiet-hours.ts'
import { needsFollowUp, silenceOf, wantedFor } from '../../src/alerting/rules.ts'
import { shownAnswer } from '../../src/alerting/send.ts'
import { AlertChange } from '../../src/generated/prisma/enums.ts'

describe('why an alert is silent', () => {
  const words = { maintenance: 'MAINTENANCE', parent: 'PARENT_DOWN', flapping: 'FLAPPING' } as const
  // All combinations of maintenance, parent down, begun often enough to flap, and settled.
  test.each([
    [false, false, 2, false, null],
    [false, false, 2, true, null],
    [false, false, 3, false, words.flapping],
    [false, false, 3, true, null],
    [false, true, 2, false, words.parent],
    [false, true, 2, true, words.parent],
    [false, true, 3, false, words.parent],
    [false, true, 3, true, words.parent],
    [true, false, 2, false, words.maintenance],
    [true, false, 2, true, words.maintenance],
    [true, false, 3, false, words.maintenance],
    [true, false, 3, true, words.maintenance],
    [true, true, 2, false, words.maintenance],
    [true, true, 2, true, words.maintenance],
    [true, true, 3, false, words.maintenance],
    [true, true, 3, true, words.maintenance],
    // The first outage, and one of many.
    [false, false, 1, false, null],
    [false, false, 9, false, words.flapping],
    [false, false, 9, true, null],
  ] as const)(
    'maintenance %s, parent down %s, begun %i times, settled %s: %s',
    (underMaintenance, parentDown, count, settled, silence) => {
      expect(silenceOf({ underMaintenance, parentDown, count, settled })).toBe(silence)
    },
  )
})

test('only open alerts that are neither silent nor acknowledged need a follow-up', () => {
  const [at, none] = [new Date(0), null]
  const lasting = { endedAt: none, acknowledgedAt: none, silence: none }
  expect(needsFollowUp(lasting)).toBe(true)
  for (const other of [
    { endedAt: at },
    { acknowledgedAt: at },
    { silence: 'MAINTENANCE' },
    { silence: 'FLAPPING' },
    { silence: 'PARENT_DOWN' },
  ] as const)
    expect(needsFollowUp({ ...lasting, ...other })).toBe(false)
})

test('every change is sent to channels that have chosen it', () => {
  for (const change of Object.values(AlertChange)) expect(wantedFor[change][0]).toBe(change)
})

describe('quiet times', () => {
  const daily = [1, 2, 3, 4, 5, 6, 7]
  const times = (timeZone: string, ...windows: QuietTimes['windows']) => ({ windows, timeZone })
  const night = times('Europe/Berlin', { days: daily, from: 22 * 60, to: 7 * 60 })
  const noon = times('UTC', { days: daily, from: 12 * 60, to: 13 * 60 })
  // Nights of workdays, and whole weekends.
  const office = times(
    'Europe/Berlin',
    { days: [1, 2, 3, 4, 5], from: 18 * 60, to: 8 * 60 },
    { days: [6, 7], from: 0, to: 24 * 60 },
    { days: [1], from: 0, to: 8 * 60 },
  )
  const saturdayNight = times('UTC', { days: [6], from: 22 * 60, to: 6 * 60 })
  test.each([
    [night, '2026-11-20T20:59Z', null],
    [night, '2026-11-20T21:00Z', '2026-11-21T06:00:00.000Z'],
    [night, '2026-11-21T05:59Z', '2026-11-21T06:00:00.000Z'],
    [night, '2026-11-21T06:00Z', null],
    // Clocks go back at three, so the night is an hour longer. In March it is an hour shorter.
    [night, '2026-10-24T20:30Z', '2026-10-25T06:00:00.000Z'],
    [night, '2026-03-28T22:00Z', '2026-03-29T05:00:00.000Z'],
    [noon, '2026-11-20T12:59:59Z', '2026-11-20T13:00:00.000Z'],
    [noon, '2026-11-20T13:00Z', null],
    // 20 November 2026 is a Friday.
    [office, '2026-11-19T20:00Z', '2026-11-20T07:00:00.000Z'],
    [office, '2026-11-20T12:00Z', null],
    [office, '2026-11-20T17:00Z', '2026-11-23T07:00:00.000Z'],
    [office, '2026-11-22T12:00Z', '2026-11-23T07:00:00.000Z'],
    [office, '2026-11-23T07:00Z', null],
    [saturdayNight, '2026-11-20T23:00Z', null],
    [saturdayNight, '2026-11-21T23:00Z', '2026-11-22T06:00:00.000Z'],
    [saturdayNight, '2026-11-22T05:00Z', '2026-11-22T06:00:00.000Z'],
    [saturdayNight, '2026-11-22T23:00Z', null],
  ])('%j at %s end %s', (hours, at, end) => {
    expect(quietUntil(hours, new Date(at))?.toISOString() ?? null).toBe(end)
  })

  test('must leave some time of the week', () => {
    expect(isAlwaysQuiet(office.windows)).toBe(false)
    expect(isAlwaysQuiet([{ days: daily, from: 0, to: 1439 }])).toBe(false)
    expect(isAlwaysQuiet([{ days: daily, from: 0, to: 1440 }])).toBe(true)
    expect(isAlwaysQuiet([{ days: daily, from: 600, to: 600 }])).toBe(true)
  })

  test('are stored in columns that earlier versions read as far as possible', () => {
    expect(quietTimesOf(quietColumnsOf(office))).toEqual(office)
    expect(quietColumnsOf(office)).toMatchObject({ quietFrom: null, quietTo: null })
    expect(quietColumnsOf(night)).toMatchObject({ quietFrom: 1320, quietTo: 420, quietZone: 'Europe/Berlin' })
    // As earlier versions stored them.
    expect(quietTimesOf({ ...quietColumnsOf(night), quietWindows: [] })).toEqual(night)
    expect(quietTimesOf(quietColumnsOf(null))).toBeNull()
  })

  test('are parsed from clock times', () => {
    expect(['00:00', '07:05', '23:59'].map(parseMinutes)).toEqual([0, 425, 1439])
    expect(['24:00', '07:05', '24:01'].map(parseEnd)).toEqual([1440, 425, null])
    expect(['', '24:00', '7:00', '12:60', ' 12:00'].map(parseMinutes)).toEqual([null, null, null, null, null])
  })
})

test('a response is shown on one line of limited length, without secrets and HTML pages', () => {
  const answer = (text: string, type = 'application/json') => ({
    body: Buffer.from(text),
    headers: { 'content-type': type },
  })
  expect(shownAnswer(answer('{"error":\n "no\u202e key\u0000 topsecret"}'), ['topsecret'])).toBe(
    '{"error": "no key •••"}',
  )
  expect(shownAnswer(answer('x'.repeat(5000)), [])).toHaveLength(300)
  expect(shownAnswer(answer('<h1>Hi</h1>', 'text/html; charset=utf-8'), [])).toBeNull()
  expect(shownAnswer(answer(' \n '), [])).toBeNull()
})
