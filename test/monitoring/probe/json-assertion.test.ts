import { describe, expect, test } from 'vitest'
import { isSingularPath, jsonMismatch } from '../../../src/monitoring/probe/json-assertion.ts'

describe('a JSON path', () => {
  test.each(['$', '$.a', '$.a.b[0]', "$['a b'][-1]", '$["ä"]'])('%s leads to one value', (path) => {
    expect(isSingularPath(path)).toBe(true)
  })

  test.each(['', 'a', '.a', '$.', '$..a', '$.*', '$[*]', '$[0,1]', '$[0:2]', '$[?@.a]', '$.a[?@.b == 1]'])(
    '%s does not',
    (path) => {
      expect(isSingularPath(path)).toBe(false)
    },
  )
})

describe('a JSON assertion', () => {
  const body = '{"status":"ok","checks":[{"up":true,"load":0.5}],"none":null}'
  const mistake = (assertion: object) => jsonMismatch({ path: '$', absent: false, ...assertion }, body)

  test('passes when the value matches', () => {
    expect(mistake({ path: '$.status', equals: 'ok' })).toBeNull()
    expect(mistake({ path: '$.checks[0].up', equals: true })).toBeNull()
    expect(mistake({ path: '$.checks[-1].load', equals: 0.5 })).toBeNull()
    expect(mistake({ path: '$.none' })).toBeNull()
    expect(mistake({ path: '$.error', absent: true })).toBeNull()
  })

  const load = (assertion: object) => mistake({ path: '$.checks[0].load', ...assertion })
  const matching = (pattern: string, text: string) => new RegExp(pattern).test(text)

  test.each([
    [{ lessThan: 0.6, greaterThan: 0.4, atMost: 0.5, atLeast: 0.5, notEquals: 1 }, null],
    [{ lessThan: 0.5 }, '$.checks[0].load is 0.5, not less than 0.5'],
    [{ atMost: 0.4 }, '$.checks[0].load is 0.5, not at most 0.4'],
    [{ greaterThan: 0.5 }, '$.checks[0].load is 0.5, not greater than 0.5'],
    [{ atLeast: 1 }, '$.checks[0].load is 0.5, not at least 1'],
    [{ notEquals: 0.5 }, '$.checks[0].load is 0.5'],
    [{ path: '$.status', lessThan: 1 }, '$.status is "ok", which is not a number'],
    [{ path: '$.checks', length: true, equals: 1, atLeast: 1 }, null],
    [{ path: '$.checks', length: true, greaterThan: 1 }, 'The length of $.checks is 1, not greater than 1'],
    [{ path: '$.status', length: true, equals: 2 }, null],
    [{ path: '$', length: true, equals: 3 }, null],
    [{ path: '$.none', length: true, equals: 3 }, '$.none is null, which has no length'],
  ])('compares: %j', (assertion, message) => {
    expect(load(assertion)).toBe(message)
  })

  test('compares amounts in strings and long numbers, and matches strings', () => {
    const of = (value: string, assertion: object) =>
      jsonMismatch({ path: '$.a', absent: false, ...assertion }, `{"a":${value}}`, matching)
    expect(of('"12.50"', { greaterThan: 12 })).toBeNull()
    expect(of('12345678901234567890', { greaterThan: 12 })).toBeNull()
    expect(of('12345678901234567890', { matches: '^123.*890$' })).toBeNull()
    expect(of('"v1.2"', { matches: '^v1' })).toBeNull()
    expect(of('"v2"', { matches: '^v1' })).toBe('$.a is "v2", which does not match "^v1"')
    expect(of('[1]', { matches: '1' })).toBe('$.a is an array, which is not a text')
  })

  test('describes failures', () => {
    expect(mistake({ path: '$.status', equals: 'up' })).toBe('$.status is "ok" instead of "up"')
    expect(mistake({ path: '$.checks[0].load', equals: '0.5' })).toBe('$.checks[0].load is 0.5 instead of "0.5"')
    expect(mistake({ path: '$.checks', equals: 1 })).toBe('$.checks is an array instead of 1')
    expect(mistake({ path: '$.checks[0]', equals: 1 })).toBe('$.checks[0] is an object instead of 1')
    expect(mistake({ path: '$.none', equals: 1 })).toBe('$.none is null instead of 1')
    expect(mistake({ path: '$.error.code' })).toBe('The response has no $.error.code')
    expect(mistake({ path: '$.status', absent: true })).toBe('The response has $.status')
  })

  test('fails for invalid JSON', () => {
    const anything = { path: '$', absent: false }
    expect(jsonMismatch(anything, '<html>')).toBe('The response is not valid JSON')
    expect(jsonMismatch(anything, '')).toBe('The response is not valid JSON')
  })

  test('compares long integers digit by digit', () => {
    const long =
      '{"a":9007199254740993,"b":[-123456789012345678901234567890,1e20],"c":"9007199254740993 1234567890123456"}'
    const of = (path: string, equals: string | number) => jsonMismatch({ path, equals, absent: false }, long)
    expect(of('$.a', '9007199254740993')).toBeNull()
    expect(of('$.a', 9007199254740992)).toBe('$.a is 9007199254740993 instead of 9007199254740992')
    expect(of('$.a', '9007199254740992')).toBe('$.a is 9007199254740993 instead of "9007199254740992"')
    expect(of('$.b[0]', '-123456789012345678901234567890')).toBeNull()
    expect(of('$.b[1]', 1e20)).toBeNull()
    expect(of('$.c', '9007199254740993 1234567890123456')).toBeNull()
    expect(jsonMismatch({ path: '$', absent: false }, '[01234567890123456789]')).toBe('The response is not valid JSON')
  })

  test('ignores brackets in strings, and accepts realistic nesting', () => {
    const text = `{"a":"${'['.repeat(5000)}\\"[\\\\","b":${'['.repeat(400)}1${']'.repeat(400)}}`
    expect(jsonMismatch({ path: '$.b[0]', absent: false }, text)).toBeNull()
  })

  test('parses any text of a megabyte quickly', () => {
    const kinds = ['[', '{"a":', '[[],', '"\\\\', '\\"', '{"":"",', '1234567890123456,']
    for (const kind of kinds) {
      const body = kind.repeat(2 ** 20 / kind.length)
      expect(jsonMismatch({ path: '$', absent: false }, body)).toMatch(
        /^The response (is not valid|is JSON with more than)/,
      )
    }
  })

  test('handles deep JSON and prototype keys', () => {
    const deep = '['.repeat(500_000) + ']'.repeat(500_000)
    expect(jsonMismatch({ path: '$[0][0]', equals: 1, absent: false }, deep)).toBe(
      'The response is JSON with more than 500 levels, which is too deep to read',
    )
    expect(jsonMismatch({ path: '$.constructor', absent: false }, body)).toBe('The response has no $.constructor')
    expect(jsonMismatch({ path: '$.__proto__', absent: false }, body)).toBe('The response has no $.__proto__')
  })
})
