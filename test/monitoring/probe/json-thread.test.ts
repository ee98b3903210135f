import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { Unavailable } from '../../../src/core/errors.ts'
import { TaskTimeout } from '../../../src/core/thread/task-runner.ts'
import { checkJson, closeJsonThread, matchesPattern } from '../../../src/monitoring/probe/json-thread.ts'
import { PatternRefused } from '../../../src/monitoring/probe/pattern.ts'

afterAll(closeJsonThread)

const assertion = { path: '$.a', equals: 1, absent: false }
const long = (value: string) => `{"b":"${'x'.repeat(50_000)}","a":${value}}`

describe('a regular expression', () => {
  test('uses RE2, and never takes exponential time', async () => {
    expect(await matchesPattern('(?i)^OK', 'ok', 'org_1')).toBe(true)
    expect(await matchesPattern('^ok$', 'not ok', 'org_1')).toBe(false)
    expect(await checkJson({ path: '$.a', absent: false, matches: '^x+$' }, '{"a":"xxx"}', 'org_1')).toBeNull()
    const slow = matchesPattern('^(a|aa|aaa)*b$', 'a'.repeat(100_000), 'org_1').catch((error: unknown) => error)
    expect([false, expect.any(TaskTimeout)]).toContainEqual(await slow)
    expect(await matchesPattern('ok', 'ok', 'org_1')).toBe(true)
  })

  test('that RE2 rejects is reported', async () => {
    await expect(matchesPattern('a{1001}', 'a', 'org_1')).rejects.toThrow(PatternRefused)
    await expect(checkJson({ path: '$.a', absent: false, matches: 'a{1001}' }, '{"a":"x"}', 'org_1')).rejects.toThrow(
      PatternRefused,
    )
  })
})

describe('a JSON assertion', () => {
  test('has the same result for a long text as for a short one', async () => {
    const check = (text: string) => checkJson(assertion, text, 'org_1')
    for (const [value, failure] of [
      ['1', null],
      ['2', '$.a is 2 instead of 1'],
      ['12345678901234567890', '$.a is 12345678901234567890 instead of 1'],
      ['[', 'The response is not valid JSON'],
    ] as const) {
      expect(await check(`{"a":${value}}`)).toBe(failure)
      expect(await check(long(value))).toBe(failure)
    }
  })

  test('does not block the event loop for a long text', async () => {
    const text = `{"c":[${'12345678901234567,'.repeat(58_000)}1],"a":1}`
    const check = checkJson(assertion, text, 'org_1')
    expect(await Promise.race([check, nextTurn('the event loop')])).toBe('the event loop')
    expect(await check).toBeNull()
  })

  test('is refused if its organization has too many waiting texts, and the assertions of others are checked', async () => {
    const own = Array.from({ length: 30 }, () => checkJson(assertion, long('1'), 'org_1'))
    const settled = Promise.allSettled(own)
    expect(await checkJson(assertion, long('1'), 'org_2')).toBeNull()
    const refused = (await settled).filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(9)
    expect(refused[0]).toMatchObject({ reason: expect.any(Unavailable) })
  })
})
