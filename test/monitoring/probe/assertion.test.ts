import { describe, expect, test } from 'vitest'
import {
  isExpectedStatus,
  isSingularPath,
  jsonMistake,
  keywordDoubt,
  keywordMistake,
} from '../../../src/monitoring/probe/assertion.ts'
import type { Answer } from '../../../src/network/outbound.ts'

function answer(body: string | Buffer, contentType = 'text/plain', complete = true): Answer {
  return {
    kind: 'answer',
    status: 200,
    headers: { 'content-type': contentType },
    body: Buffer.from(body),
    complete,
    url: 'http://a.example/',
    address: '192.0.2.7',
    certificate: null,
    phases: { dns: 1, connect: 1, tls: null, firstByte: 1, total: 3 },
  }
}

describe('an expected status', () => {
  test.each([
    [['200'], [200], [199, 201]],
    [['2xx'], [200, 204, 299], [199, 300]],
    [
      ['200-299', '401'],
      [200, 250, 299, 401],
      [300, 400, 402],
    ],
  ])('%j takes %j and not %j', (expected, taken, refused) => {
    expect(taken.filter((status) => !isExpectedStatus(expected, status))).toEqual([])
    expect(refused.filter((status) => isExpectedStatus(expected, status))).toEqual([])
  })
})

describe('a keyword', () => {
  test('has to be there, or must not', () => {
    expect(keywordMistake({ text: 'well', absent: false }, answer('all is well'))).toBeNull()
    expect(keywordMistake({ text: 'Well', absent: false }, answer('all is well'))).toBe(
      'The answer does not contain "Well"',
    )
    expect(keywordMistake({ text: 'error', absent: true }, answer('all is well'))).toBeNull()
    expect(keywordMistake({ text: 'well', absent: true }, answer('all is well'))).toBe('The answer contains "well"')
  })

  test('is looked for in the encoding of the answer', () => {
    const keyword = { text: 'geöffnet', absent: false }
    expect(keywordMistake(keyword, answer('geöffnet'))).toBeNull()
    expect(
      keywordMistake(keyword, answer(Buffer.from('geöffnet', 'latin1'), 'text/html; charset="ISO-8859-1"')),
    ).toBeNull()
    expect(keywordMistake(keyword, answer('geöffnet', 'text/html; charset=nonsense'))).toBeNull()
  })
})

describe('a body that is not read to its end', () => {
  const cut = answer('x'.repeat(2 ** 20), 'text/plain', false)

  test('does not contain what is not in what was read, and says how much that is', () => {
    const keyword = { text: 'well', absent: false }
    expect(keywordMistake(keyword, cut)).toBe(
      'The first 1 MiB of the answer, which is all that is read of it, do not contain "well"',
    )
    expect(keywordDoubt(keyword, cut)).toBeNull()
    expect(keywordMistake({ text: 'xx', absent: false }, cut)).toBeNull()
  })

  test('may contain what must not be in it', () => {
    const keyword = { text: 'error', absent: true }
    expect(keywordMistake(keyword, cut)).toBeNull()
    expect(keywordDoubt(keyword, cut)).toBe(
      'Not known whether the answer contains "error": only its first 1 MiB are read, without it',
    )
    expect(keywordMistake({ text: 'x', absent: true }, cut)).toBe('The answer contains "x"')
    expect(keywordDoubt(keyword, answer('short'))).toBeNull()
  })
})

test('a body that is packed in an unknown way is named so, and never taken as read', () => {
  const packed = { ...answer('{}'), headers: { 'content-encoding': 'ZSTD' } }
  expect(keywordMistake({ text: 'a', absent: false }, packed)).toMatch(/^The answer is packed with zstd/)
  expect(keywordDoubt({ text: 'a', absent: true }, packed)).toMatch(/^Not known .* packed with zstd$/)
  expect(jsonMistake({ path: '$', absent: false }, packed)).toMatch(/packed with zstd/)
})

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
  const body = answer('{"status":"ok","checks":[{"up":true,"load":0.5}],"none":null}', 'application/json')
  const mistake = (assertion: object) => jsonMistake({ path: '$', absent: false, ...assertion }, body)

  test('holds when the value is as it has to be', () => {
    expect(mistake({ path: '$.status', equals: 'ok' })).toBeNull()
    expect(mistake({ path: '$.checks[0].up', equals: true })).toBeNull()
    expect(mistake({ path: '$.checks[-1].load', equals: 0.5 })).toBeNull()
    expect(mistake({ path: '$.none' })).toBeNull()
    expect(mistake({ path: '$.error', absent: true })).toBeNull()
  })

  test('says what is wrong', () => {
    expect(mistake({ path: '$.status', equals: 'up' })).toBe('$.status is "ok" instead of "up"')
    expect(mistake({ path: '$.checks[0].load', equals: '0.5' })).toBe('$.checks[0].load is 0.5 instead of "0.5"')
    expect(mistake({ path: '$.checks', equals: 1 })).toBe('$.checks is an array instead of 1')
    expect(mistake({ path: '$.checks[0]', equals: 1 })).toBe('$.checks[0] is an object instead of 1')
    expect(mistake({ path: '$.none', equals: 1 })).toBe('$.none is null instead of 1')
    expect(mistake({ path: '$.error.code' })).toBe('The answer has no $.error.code')
    expect(mistake({ path: '$.status', absent: true })).toBe('The answer has $.status')
  })

  test('does not hold for what is no JSON, or not all of it', () => {
    const anything = { path: '$', absent: false }
    expect(jsonMistake(anything, answer('<html>'))).toBe('The answer is not valid JSON')
    expect(jsonMistake(anything, answer(''))).toBe('The answer is not valid JSON')
    expect(jsonMistake(anything, answer('{"a":1}', 'application/json', false))).toBe(
      'The answer is too long to be read as JSON',
    )
  })

  test('compares long integers digit by digit', () => {
    const long = answer(
      '{"a":9007199254740993,"b":[-123456789012345678901234567890,1e20],"c":"9007199254740993 1234567890123456"}',
    )
    const of = (path: string, equals: string | number) => jsonMistake({ path, equals, absent: false }, long)
    expect(of('$.a', '9007199254740993')).toBeNull()
    expect(of('$.a', 9007199254740992)).toBe('$.a is 9007199254740993 instead of 9007199254740992')
    expect(of('$.a', '9007199254740992')).toBe('$.a is 9007199254740993 instead of "9007199254740992"')
    expect(of('$.b[0]', '-123456789012345678901234567890')).toBeNull()
    expect(of('$.b[1]', 1e20)).toBeNull()
    expect(of('$.c', '9007199254740993 1234567890123456')).toBeNull()
    expect(jsonMistake({ path: '$', absent: false }, answer('[01234567890123456789]'))).toBe(
      'The answer is not valid JSON',
    )
  })

  test('has brackets in texts nest nothing, and takes as many levels as anybody has', () => {
    const text = `{"a":"${'['.repeat(5000)}\\"[\\\\","b":${'['.repeat(400)}1${']'.repeat(400)}}`
    expect(jsonMistake({ path: '$.b[0]', absent: false }, answer(text))).toBeNull()
  })

  test('reads a megabyte of anything within moments', () => {
    const kinds = ['[', '{"a":', '[[],', '"\\\\', '\\"', '{"":"",', '1234567890123456,']
    for (const kind of kinds) {
      const body = answer(kind.repeat(2 ** 20 / kind.length))
      expect(jsonMistake({ path: '$', absent: false }, body)).toMatch(/^The answer (is not valid|nests deeper)/)
    }
  })

  test('is not exhausted by what is deep or prototypical', () => {
    const deep = '['.repeat(500_000) + ']'.repeat(500_000)
    expect(jsonMistake({ path: '$[0][0]', equals: 1, absent: false }, answer(deep))).toBe(
      'The answer nests deeper than 500 levels: it is not read as JSON',
    )
    expect(jsonMistake({ path: '$.constructor', absent: false }, body)).toBe('The answer has no $.constructor')
    expect(jsonMistake({ path: '$.__proto__', absent: false }, body)).toBe('The answer has no $.__proto__')
  })
})
