import { describe, expect, test } from 'vitest'
import {
  hasKeyword,
  isExpectedStatus,
  jsonFailure,
  keywordFailure,
  keywordUncertainty,
} from '../../../src/monitoring/probe/assertion.ts'
import type { Answer } from '../../../src/network/outbound/outbound.ts'

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
    oddities: [],
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
  ])('%j accepts %j and not %j', (expected, taken, refused) => {
    expect(taken.filter((status) => !isExpectedStatus(expected, status))).toEqual([])
    expect(refused.filter((status) => isExpectedStatus(expected, status))).toEqual([])
  })
})

/** Returns the failure of a keyword assertion about a body. */
async function failureOf(
  given: { readonly text: string; readonly absent: boolean; readonly isRegex?: boolean },
  body: Answer,
) {
  const keyword = { isRegex: false, ...given }
  return keywordFailure(keyword, body, await hasKeyword(keyword, body, 'org_1'))
}

describe('a keyword', () => {
  test('must be present, or must be absent', async () => {
    expect(await failureOf({ text: 'well', absent: false }, answer('all is well'))).toBeNull()
    expect(await failureOf({ text: 'Well', absent: false }, answer('all is well'))).toBe(
      'The response does not contain "Well"',
    )
    expect(await failureOf({ text: 'error', absent: true }, answer('all is well'))).toBeNull()
    expect(await failureOf({ text: 'well', absent: true }, answer('all is well'))).toBe('The response contains "well"')
  })

  test('is searched for in the charset of the response', async () => {
    const keyword = { text: 'geöffnet', absent: false }
    expect(await failureOf(keyword, answer('geöffnet'))).toBeNull()
    expect(
      await failureOf(keyword, answer(Buffer.from('geöffnet', 'latin1'), 'text/html; charset="ISO-8859-1"')),
    ).toBeNull()
    expect(await failureOf(keyword, answer('geöffnet', 'text/html; charset=nonsense'))).toBeNull()
  })
})

describe('a body that is not read completely', () => {
  const cut = answer('x'.repeat(2 ** 20), 'text/plain', false)

  test('fails when the part that was read lacks the keyword, and the message states how much was read', async () => {
    const keyword = { text: 'well', absent: false }
    expect(await failureOf(keyword, cut)).toBe(
      'The first 1 MiB of the response do not contain "well"; the rest was not read',
    )
    expect(keywordUncertainty(keyword, cut)).toBeNull()
    expect(await failureOf({ text: 'xx', absent: false }, cut)).toBeNull()
  })

  test('has no result when the keyword must be absent', async () => {
    const keyword = { text: 'error', absent: true }
    expect(await failureOf(keyword, cut)).toBeNull()
    expect(keywordUncertainty(keyword, cut)).toBe(
      'Unknown whether the response contains "error": its first 1 MiB do not, and the rest was not read',
    )
    expect(await failureOf({ text: 'x', absent: true }, cut)).toBe('The response contains "x"')
    expect(keywordUncertainty(keyword, answer('short'))).toBeNull()
  })
})

test('a body with an unsupported encoding has its own message', async () => {
  const packed = { ...answer('{}'), headers: { 'content-encoding': 'ZSTD' } }
  expect(await failureOf({ text: 'a', absent: false }, packed)).toMatch(/^The response is encoded with zstd/)
  expect(keywordUncertainty({ text: 'a', absent: true }, packed)).toMatch(/^Unknown .* encoded with zstd$/)
  expect(await jsonFailure({ path: '$', absent: false }, packed, 'org_1')).toMatch(/encoded with zstd/)
})

describe('a response that must be JSON', () => {
  const of = (path: string, body: Answer) => jsonFailure({ path, absent: false }, body, 'org_1')

  test('is read in the charset of the response', async () => {
    const body = answer(Buffer.from('{"größe":1}', 'latin1'), 'application/json; charset=latin1')
    expect(await of('$["größe"]', body)).toBeNull()
  })

  test('fails when it is incomplete', async () => {
    const cut = answer('{"a":1}', 'application/json', false)
    expect(await of('$.a', cut)).toBe('The response is too long to be read as JSON')
  })
})
