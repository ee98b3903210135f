import { describe, expect, test } from 'vitest'
import { parseMinutes, quietUntil } from '../../src/alerting/quiet-hours.ts'
import { needsAttention, silenceOf, wantedFor } from '../../src/alerting/rules.ts'
import { shownAnswer } from '../../src/alerting/send.ts'
import { AlertChange } from '../../src/generated/prisma/enums.ts'

describe('why an alert is silent', () => {
  const words = { maintenance: 'MAINTENANCE', parent: 'PARENT_DOWN', flapping: 'FLAPPING' } as const
  test.each([
    // Maintenance, parent down, begun so often, settled: silence.
    [false, false, 1, false, null],
    [false, false, 2, false, null],
    [false, false, 3, false, words.flapping],
    [false, false, 9, false, words.flapping],
    [false, false, 9, true, null],
    [false, true, 1, false, words.parent],
    [false, true, 1, true, words.parent],
    [false, true, 9, false, words.parent],
    [false, true, 9, true, words.parent],
    [true, false, 1, false, words.maintenance],
    [true, false, 3, false, words.maintenance],
    [true, false, 3, true, words.maintenance],
    [true, true, 1, false, words.maintenance],
    [true, true, 9, false, words.maintenance],
  ] as const)(
    'maintenance %s, parent down %s, begun %i times, settled %s: %s',
    (underMaintenance, parentDown, count, settled, silence) => {
      expect(silenceOf({ underMaintenance, parentDown, count, settled })).toBe(silence)
    },
  )
})

test('only what lasts, is told and is not acknowledged needs attention', () => {
  const [at, none] = [new Date(0), null]
  const lasting = { endedAt: none, acknowledgedAt: none, silence: none }
  expect(needsAttention(lasting)).toBe(true)
  for (const other of [
    { endedAt: at },
    { acknowledgedAt: at },
    { silence: 'MAINTENANCE' },
    { silence: 'FLAPPING' },
    { silence: 'PARENT_DOWN' },
  ] as const)
    expect(needsAttention({ ...lasting, ...other })).toBe(false)
})

test('every change is told to those who want it itself', () => {
  for (const change of Object.values(AlertChange)) expect(wantedFor[change][0]).toBe(change)
})

describe('quiet hours', () => {
  const night = { from: 22 * 60, to: 7 * 60, timeZone: 'Europe/Berlin' }
  const noon = { from: 12 * 60, to: 13 * 60, timeZone: 'UTC' }
  test.each([
    [night, '2026-11-20T20:59Z', null],
    [night, '2026-11-20T21:00Z', '2026-11-21T06:00:00.000Z'],
    [night, '2026-11-21T05:59Z', '2026-11-21T06:00:00.000Z'],
    [night, '2026-11-21T06:00Z', null],
    // Clocks go back at three: the night is an hour longer. In March it is an hour shorter.
    [night, '2026-10-24T20:30Z', '2026-10-25T06:00:00.000Z'],
    [night, '2026-03-28T22:00Z', '2026-03-29T05:00:00.000Z'],
    [noon, '2026-11-20T12:59:59Z', '2026-11-20T13:00:00.000Z'],
    [noon, '2026-11-20T13:00Z', null],
  ])('%j at %s end %s', (hours, at, end) => {
    expect(quietUntil(hours, new Date(at))?.toISOString() ?? null).toBe(end)
  })

  test('are read as clocks show them', () => {
    expect(['00:00', '07:05', '23:59'].map(parseMinutes)).toEqual([0, 425, 1439])
    expect(['', '24:00', '7:00', '12:60', ' 12:00'].map(parseMinutes)).toEqual([null, null, null, null, null])
  })
})

test('an answer is shown in one line that is not too long, without secrets and without pages', () => {
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
