import { parse } from 'graphql'
import { expect, test } from 'vitest'
import { createParseCache } from '../../../src/graphql/document/parse-cache.ts'

const documentOf = (number: number, fields: number) => `{ ${'a '.repeat(fields)} b${number} }`

test('keeps documents of a limited total length', () => {
  const { documentCache } = createParseCache()
  for (let number = 0; number < 1000; number++) {
    const document = documentOf(number, 1000)
    documentCache.set(document, parse(document))
  }
  const kept = [...documentCache.keys()].reduce((length, document) => length + document.length, 0)
  expect(kept).toBeGreaterThan(150_000)
  expect(kept).toBeLessThanOrEqual(200_000)
})

test('a very long document displaces no other', () => {
  const { documentCache, errorCache } = createParseCache()
  const [short, long] = [documentOf(1, 10), documentOf(2, 15_000)]
  documentCache.set(short, parse(short))
  documentCache.set(long, parse(long))
  errorCache.set(long, new Error('no'))
  expect([documentCache.has(short), documentCache.has(long), errorCache.has(long)]).toEqual([true, false, false])
})
