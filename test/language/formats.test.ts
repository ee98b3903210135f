import { describe, expect, test } from 'vitest'
import { formatsOf, rich } from '../../src/language/formats.ts'

describe('formats', () => {
  const polish = formatsOf<'one' | 'few' | 'many' | 'other'>('pl')
  const forms = { one: '# usługa', few: '# usługi', many: '# usług', other: '# usługi' }

  test.each([
    [0, '0 usług'],
    [1, '1 usługa'],
    [2, '2 usługi'],
    [4, '4 usługi'],
    [5, '5 usług'],
    [11, '11 usług'],
    [12, '12 usług'],
    [14, '14 usług'],
    [21, '21 usług'],
    [22, '22 usługi'],
    [25, '25 usług'],
    [100, '100 usług'],
    [102, '102 usługi'],
    [112, '112 usług'],
    [122, '122 usługi'],
  ])('Polish counts %i', (count, expected) => {
    expect(polish.plural(count, forms)).toBe(expected)
  })

  test('a language with fewer forms than plural categories uses the general form', () => {
    expect(formatsOf('fr').plural(1_000_000, { one: '# jour', other: '# jours' })).toMatch(/ jours$/)
    expect(formatsOf('fr').plural(0, { one: '# jour', other: '# jours' })).toBe('0 jour')
  })

  test.each([
    ['en-GB', 'Search, Checkout and API'],
    ['de', 'Search, Checkout und API'],
    ['ja', 'Search、Checkout、API'],
  ])('lists of %s', (locale, expected) => {
    expect(formatsOf(locale).list(['Search', 'Checkout', 'API'])).toBe(expected)
  })

  test.each([
    [59_999, null],
    [41 * 60_000, '41 min'],
    [125 * 60_000, '2 h 5 min'],
    [88 * 86_400_000 + 18 * 3_600_000 + 60_000, '88 d 18 h'],
  ])('%i ms', (milliseconds, expected) => {
    expect(formatsOf('en-GB').duration(milliseconds)).toBe(expected)
  })

  test.each([
    ['en-GB', 59_999, 'now'],
    ['en-GB', 60_000, '1 minute ago'],
    ['en-GB', 58 * 60_000, '58 minutes ago'],
    ['en-GB', 119 * 60_000, '1 hour ago'],
    ['en-GB', -1, 'now'],
    ['de', 58 * 60_000, 'vor 58 Minuten'],
    ['pl', 3 * 3_600_000, '3 godziny temu'],
    ['ja', 58 * 60_000, '58 分前'],
  ])('%s: %i ms ago', (locale, milliseconds, expected) => {
    expect(formatsOf(locale).ago(milliseconds)).toBe(expected)
  })

  test.each([
    ['it', '88 g 18 h', '2 h 5 min'],
    ['pt-BR', '88 dias 18 h', '2 h 5 min'],
    ['nl', '88 d 18 u', '2 u 5 min'],
    ['ja', '88 日 18 時間', '2 時間 5 分'],
    ['zh-Hans', '88天 18小时', '2小时 5分钟'],
  ])('durations of %s', (locale, days, hours) => {
    const { duration } = formatsOf(locale)
    expect([duration(88.76 * 86_400_000), duration(125 * 60_000)]).toEqual([days, hours])
  })

  // The north has summer time in July, the south in January.
  test.each([
    ['UTC', 'UTC', 'UTC'],
    ['Europe/London', 'GMT', 'BST'],
    ['Europe/Berlin', 'CET', 'CEST'],
    ['America/New_York', 'EST', 'EDT'],
    ['America/Chicago', 'CST', 'CDT'],
    ['America/Denver', 'MST', 'MDT'],
    ['America/Phoenix', 'MST', 'MST'],
    ['America/Los_Angeles', 'PST', 'PDT'],
    ['America/Anchorage', 'AKST', 'AKDT'],
    ['Pacific/Honolulu', 'HST', 'HST'],
    ['America/Halifax', 'AST', 'ADT'],
    ['America/St_Johns', 'NST', 'NDT'],
    ['Asia/Kolkata', 'IST', 'IST'],
    ['Asia/Tokyo', 'JST', 'JST'],
    ['Asia/Dubai', 'GST', 'GST'],
    ['Australia/Sydney', 'AEDT', 'AEST'],
    ['Australia/Perth', 'AWST', 'AWST'],
    ['Pacific/Auckland', 'NZDT', 'NZST'],
    ['Africa/Johannesburg', 'SAST', 'SAST'],
    ['Africa/Lagos', 'WAT', 'WAT'],
    ['Africa/Nairobi', 'EAT', 'EAT'],
    // Time zones without an abbreviation in any of the locales.
    ['America/Sao_Paulo', 'GMT-3', 'GMT-3'],
    ['Asia/Kathmandu', 'GMT+5:45', 'GMT+5:45'],
  ])('%s is called %s in January, %s in July', (timeZone, january, july) => {
    const clock = formatsOf('en-GB').date(timeZone, { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' })
    const nameAt = (at: string) => clock(new Date(at)).replace(/^[\d:]+ /, '')
    expect([nameAt('2026-01-15T12:00:00Z'), nameAt('2026-07-15T12:00:00Z')]).toEqual([january, july])
  })

  test.each([
    ['de', '20. Nov. 2026, 07:00 EST'],
    ['en-GB', '20 Nov 2026, 07:00 EST'],
    ['fr', '20 nov. 2026, 07:00 EST'],
  ])('%s formats dates in its own way, with the name of the time zone', (locale, written) => {
    const time = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const
    const format = formatsOf(locale).date('America/New_York', { ...time, timeZoneName: 'short' })
    expect(format(new Date('2026-11-20T12:00:00Z'))).toBe(written)
  })

  test('a message keeps its elements in order', () => {
    const element = { time: 1 }
    expect(rich`from ${element} to ${element}.`).toEqual(['from ', element, ' to ', element, '.'])
  })
})
