import { describe, expect, test } from 'vitest'
import { hasCurrent, weakEtag } from '../../../src/http/response/etag.ts'

test('a body has the same weak ETag each time, and a different body has another', () => {
  expect(weakEtag('a page')).toMatch(/^W\/"[\w-]{22}"$/)
  expect(weakEtag('a page')).toBe(weakEtag(Buffer.from('a page')))
  expect(weakEtag('a page')).not.toBe(weakEtag('another page'))
})

describe('If-None-Match', () => {
  test.each([
    ['the same', '"a"', '"a"'],
    ['one of several', '"b", "a"', '"a"'],
    ['a strong one that a proxy made weak', 'W/"a"', '"a"'],
    ['a weak one that is compared as a strong one', '"a"', 'W/"a"'],
  ])('names the current ETag: %s', (_name, header, etag) => expect(hasCurrent(header, etag)).toBe(true))

  test.each([
    ['no header', undefined],
    ['an empty one', ''],
    ['another tag', '"b"'],
    ['a longer tag that contains it', '"xa"'],
    ['the tag without quotes', 'a'],
  ])('does not: %s', (_name, header) => expect(hasCurrent(header, '"a"')).toBe(false))
})
