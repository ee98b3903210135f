import { describe, expect, test } from 'vitest'
import {
  isExpectedStatus,
  isSingularPath,
  jsonFailure,
  keywordFailure,
  keywordUncertainty,
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
  test('must be there, or must not', () => {
    expect(keywordFailure({ text: 'well', absent: false }, answer('all is well'))).toBeNull()
    expect(keywordFailure({ text: 'Well', absent: false }, answer('all is well'))).toBe(
      'The response does not contain "Well"',
    )
    expect(keywordFailure({ text: 'error', absent: true }, answer('all is well'))).toBeNull()
    expect(keywordFailure({ text: 'well', absent: true }, answer('all is well'))).toBe('The response contains "well"')
  })

  test('is searched in the charset of the response', () => {
    const keyword = { text: 'geöffnet', absent: false }
    expect(keywordFailure(keyword, answer('geöffnet'))).toBeNull()
    expect(
      keywordFailure(keyword, answer(Buffer.from('geöffnet', 'latin1'), 'text/html; charset="ISO-8859-1"')),
    ).toBeNull()
    expect(keywordFailure(keyword, answer('geöffnet', 'text/html; charset=nonsense'))).toBeNull()
  })
})

describe('a body that is not read to its end', () => {
  const cut = answer('x'.repeat(2 ** 20), 'text/plain', false)

  test('fails when the part that was read lacks the keyword, and says how much was read', () => {
    const keyword = { text: 'well', absent: false }
    expect(keywordFailure(keyword, cut)).toBe(
      'The first 1 MiB of the response do not contain "well"; the rest is not read',
    )
    expect(keywordUncertainty(keyword, cut)).toBeNull()
    expect(keywordFailure({ text: 'xx', absent: false }, cut)).toBeNull()
  })

  test('is uncertain when the keyword must be absent', () => {
    const keyword = { text: 'error', absent: true }
    expect(keywordFailure(keyword, cut)).toBeNull()
    expect(keywordUncertainty(keyword, cut)).toBe(
      'Unknown whether the response contains "error": its first 1 MiB do not, and the rest is not read',
    )
    expect(keywordFailure({ text: 'x', absent: true }, cut)).toBe('The response contains "x"')
    expect(keywordUncertainty(keyword, answer('short'))).toBeNull()
  })
})

test('a body with an unsupported encoding is reported as such', () => {
  const packed = { ...answer('{}'), headers: { 'content-encoding': 'ZSTD' } }
  expect(keywordFailure({ text: 'a', absent: false }, packed)).toMatch(/^The response is encoded with zstd/)
  expect(keywordUncertainty({ text: 'a', absent: true }, packed)).toMatch(/^Unknown .* encoded with zstd$/)
  expect(jsonFailure({ path: '$', absent: false }, packed)).toMatch(/encoded with zstd/)
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
  const mistake = (assertion: object) => jsonFailure({ path: '$', absent: false, ...assertion }, body)

  test('passes when the value matches', () => {
    expect(mistake({ path: '$.status', equals: 'ok' })).toBeNull()
    expect(mistake({ path: '$.checks[0].up', equals: true })).toBeNull()
    expect(mistake({ path: '$.checks[-1].load', equals: 0.5 })).toBeNull()
    expect(mistake({ path: '$.none' })).toBeNull()
    expect(mistake({ path: '$.error', absent: true })).toBeNull()
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

  test('fails for invalid or incomplete JSON', () => {
    const anything = { path: '$', absent: false }
    expect(jsonFailure(anything, answer('<html>'))).toBe('The response is not valid JSON')
    expect(jsonFailure(anything, answer(''))).toBe('The response is not valid JSON')
    expect(jsonFailure(anything, answer('{"a":1}', 'application/json', false))).toBe(
      'The response is too long to be read as JSON',
    )
  })

  test('compares long integers digit by digit', () => {
    const long = answer(
      '{"a":9007199254740993,"b":[-123456789012345678901234567890,1e20],"c":"9007199254740993 1234567890123456"}',
    )
    const of = (path: string, equals: string | number) => jsonFailure({ path, equals, absent: false }, long)
    expect(of('$.a', '9007199254740993')).toBeNull()
    expect(of('$.a', 9007199254740992)).toBe('$.a is 9007199254740993 instead of 9007199254740992')
    expect(of('$.a', '9007199254740992')).toBe('$.a is 9007199254740993 instead of "9007199254740992"')
    expect(of('$.b[0]', '-123456789012345678901234567890')).toBeNull()
    expect(of('$.b[1]', 1e20)).toBeNull()
    expect(of('$.c', '9007199254740993 1234567890123456')).toBeNull()
    expect(jsonFailure({ path: '$', absent: false }, answer('[01234567890123456789]'))).toBe(
      'The response is not valid JSON',
    )
  })

  test('ignores brackets in strings, and accepts realistic depths', () => {
    const text = `{"a":"${'['.repeat(5000)}\\"[\\\\","b":${'['.repeat(400)}1${']'.repeat(400)}}`
    expect(jsonFailure({ path: '$.b[0]', absent: false }, answer(text))).toBeNull()
  })

  test('reads a megabyte of anything within moments', () => {
    const kinds = ['[', '{"a":', '[[],', '"\\\\', '\\"', '{"":"",', '1234567890123456,']
    for (const kind of kinds) {
      const body = answer(kind.repeat(2 ** 20 / kind.length))
      expect(jsonFailure({ path: '$', absent: false }, body)).toMatch(
        /^The response (is not valid|is JSON with more than)/,
      )
    }
  })

  test('survives deep JSON and prototype keys', () => {
    const deep = '['.repeat(500_000) + ']'.repeat(500_000)
    expect(jsonFailure({ path: '$[0][0]', equals: 1, absent: false }, answer(deep))).toBe(
      'The response is JSON with more than 500 levels, which is not read',
    )
    expect(jsonFailure({ path: '$.constructor', absent: false }, body)).toBe('The response has no $.constructor')
    expect(jsonFailure({ path: '$.__proto__', absent: false }, body)).toBe('The response has no $.__proto__')
  })
})
