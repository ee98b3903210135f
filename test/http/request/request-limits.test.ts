import { describe, expect, test } from 'vitest'
import { lengthRefusal } from '../../../src/http/request/request-limits.ts'

const status = (url: string, headers: readonly string[] = []) =>
  lengthRefusal({ url, rawHeaders: [...headers] })?.status ?? null

describe('an address', () => {
  test('has a path and a query of limited length', () => {
    expect(status(`/check/${'a'.repeat(4000)}`)).toBeNull()
    expect(status(`/check/${'a'.repeat(4100)}`)).toBe(414)
    expect(status(`/check/a?${'a=1&'.repeat(3000)}`)).toBeNull()
    expect(status(`/check/a?${'a=1&'.repeat(3500)}`)).toBe(414)
  })

  test('has parameters of limited length, once they are decoded', () => {
    expect(status(`/status?page=${'-'.repeat(5000)}`)).toBe(414)
    expect(status(`/status?a=1&page=${'-'.repeat(5000)}&b=2`)).toBe(414)
    expect(status(`/status?page=${'%e4%b8%80'.repeat(1000)}`)).toBeNull()
    expect(status(`/status?page=${'%zz'.repeat(2000)}`)).toBe(414)
  })

  test('of GraphQL may carry a whole document', () => {
    for (const path of ['/graphql', '/graphql/']) expect(status(`${path}?query=${'a'.repeat(10_000)}`)).toBeNull()
    expect(status(`/graphqlx?query=${'a'.repeat(10_000)}`)).toBe(414)
  })
})

describe('a header', () => {
  const header = (name: string, length: number) => status('/', ['Host', 'a.example', name, 'x'.repeat(length)])

  test.each([
    ['Accept-Language', 1024],
    ['IF-NONE-MATCH', 1024],
    ['X-Forwarded-For', 1024],
    ['X-Token-Of-A-Proxy', 8192],
  ])('%s has at most %i characters', (name, most) => {
    expect([header(name, most), header(name, most + 1)]).toEqual([null, 431])
  })

  test('that proxies and other sites fill may be as long as Node.js accepts', () => {
    expect([header('Cookie', 15_000), header('Authorization', 15_000)]).toEqual([null, null])
  })
})
