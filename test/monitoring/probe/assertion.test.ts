import { describe, expect, test } from 'vitest'
import {
  isExpectedStatus,
  isSingularPath,
  jsonMistake,
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

  test('is not exhausted by what is deep or prototypical', () => {
    const deep = '['.repeat(500_000) + ']'.repeat(500_000)
    expect(jsonMistake({ path: '$[0][0]', equals: 1, absent: false }, answer(deep))).toMatch(/instead of 1$|not valid/)
    expect(jsonMistake({ path: '$.constructor', absent: false }, body)).toBe('The answer has no $.constructor')
    expect(jsonMistake({ path: '$.__proto__', absent: false }, body)).toBe('The answer has no $.__proto__')
  })
})
