import { describe, expect, test } from 'vitest'
import { cronRule } from '../../src/import/cron-rule.ts'
import { htmlMessageOf, messageOf, timeOf, titleOf } from '../../src/import/incident-fields.ts'

describe('a message of another tool', () => {
  test.each([
    ['**Plain** markdown, 1 < 2 & 3', '**Plain** markdown, 1 < 2 & 3'],
    ['Tom &amp; Ana &lt;b&gt; &unknown;', 'Tom & Ana <b> &unknown;'],
    ['One<br>two<br />three', 'One\ntwo\nthree'],
    ['<p>One</p><p>Two</p>', 'One\n\nTwo'],
    ['<ul><li>a</li><li>b</li></ul>', '- a\n- b'],
    ['<strong>Down</strong> <em>now</em> <code>x</code>', '**Down** _now_ `x`'],
    ['<a href="https://a.example/">Here</a>', '[Here](https://a.example/)'],
    ['<a href="javascript:alert(1)">Here</a>', 'Here'],
    ['<script>alert(1)</script><img src=x onerror=alert(1)>', 'alert(1)'],
    ['a <!-- hidden --> b', 'a  b'],
    ['a\u0000b\u202ec\r\nd', 'abc\nd'],
  ])('%j becomes %j', (given, expected) => {
    expect(htmlMessageOf(given)).toBe(expected)
  })

  test('is cut when it is too long, and many tags take no longer to read', () => {
    expect(messageOf('x'.repeat(20_000))).toHaveLength(10_000)
    expect(htmlMessageOf('<a '.repeat(1_000_000)).length).toBeLessThanOrEqual(10_000)
    expect(titleOf(`a\n${'b'.repeat(300)}`, '')).toHaveLength(200)
    expect(titleOf('\u202e', 'Other')).toBe('Other')
  })
})

test.each([
  ['2026-11-20 12:00:00', '2026-11-20T12:00:00.000Z'],
  ['2026-11-20 12:00:00.123', '2026-11-20T12:00:00.123Z'],
  ['2026-11-20T12:00:00', '2026-11-20T12:00:00.000Z'],
  ['2026-11-20T12:00:00.000-08:00', '2026-11-20T20:00:00.000Z'],
  [1_800_000_000, '2027-01-15T08:00:00.000Z'],
  [1_800_000_000_000, '2027-01-15T08:00:00.000Z'],
  ['', null],
  ['soon', null],
  [Number.MAX_VALUE, null],
  [null, null],
  [{}, null],
])('the time %j becomes %j', (given, expected) => {
  expect(timeOf(given)).toBe(expected)
})

test.each([
  ['30 3 * * *', 'FREQ=DAILY'],
  ['0 2 * * 0', 'FREQ=WEEKLY;BYDAY=SU'],
  ['0 2 * * 7', 'FREQ=WEEKLY;BYDAY=SU'],
  ['0 2 * * 1-5', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'],
  ['0 2 * * mon,wed', 'FREQ=WEEKLY;BYDAY=MO,WE'],
  ['0 2 1,15 * *', 'FREQ=MONTHLY;BYMONTHDAY=1,15'],
  ['0 2 L * *', 'FREQ=MONTHLY;BYMONTHDAY=-1'],
  ['0 2 1 */3 *', 'FREQ=MONTHLY;BYMONTH=1,4,7,10;BYMONTHDAY=1'],
  ['0 2 * JAN 1', 'FREQ=DAILY;BYMONTH=1;BYDAY=MO'],
  ['0 2 */10 * *', 'FREQ=MONTHLY;BYMONTHDAY=1,11,21,31'],
  ['0 2 */1 */1 */1', 'FREQ=DAILY'],
  // Uptime Kuma joins days and weekdays by “or”, unless one is a bare star.
  ['0 2 */1 * 6', 'FREQ=DAILY'],
  ['0 2 1-31 3 6', 'FREQ=DAILY;BYMONTH=3'],
  ['0 2 13 * 0-6', 'FREQ=DAILY'],
  ['0 2 * */1 6', 'FREQ=WEEKLY;BYDAY=SA'],
  // No rule can express “either day”.
  ['0 2 1 * 1', null],
  ['0 2 */2 * 6', null],
  ['*/5 * * * *', null],
  ['0 2,3 * * *', null],
  ['0 24 * * *', null],
  ['0 2 32 * *', null],
  ['0 2 * * */0', null],
  ['0 2 * *', null],
  ['', null],
])('the cron expression %j becomes %j', (expression, rule) => {
  expect(cronRule(expression)?.rule ?? null).toBe(rule)
})
