import { describe, expect, test } from 'vitest'
import { areEscapesText, dropUnreadableCookies, escapesProblem } from '../../../src/http/request/text-escapes.ts'

describe('escapes', () => {
  test.each(['', 'a', '%', '%z', '100%25', '%41', '%c3%a4', '%F0%9F%98%80', '%2500', '%ef%bf%bf', '%7f', 'ä%c3%a4'])(
    'in %j are text',
    (text) => expect(areEscapesText(text)).toBe(true),
  )

  test.each([
    ['NUL', '%00'],
    ['NUL amid others', 'a%41%00%42'],
    ['NUL in two bytes', '%c0%80'],
    ['a slash in three bytes', '%e0%80%af'],
    ['a lone surrogate', '%ed%a0%80'],
    ['a pair of surrogates', '%ed%a0%bd%ed%b8%80'],
    ['a character beyond Unicode', '%f4%90%80%80'],
    ['a byte that begins nothing', '%ff'],
    ['a cut-off character', '%e2%82'],
    ['a cut-off character before text', '%e2%82a'],
  ])('of %s are none', (_, text) => expect(areEscapesText(text)).toBe(false))
})

test('an address is refused anywhere, except in the query of a check', () => {
  expect(
    ['/%00', '/a?b=%00', '/api/blacklist-monitor/%00?target=a'].map((url) => escapesProblem({ url })),
  ).not.toContain(null)
  expect(escapesProblem({ url: '/api/blacklist-monitor/ip?target=%00' })).toBeNull()
  expect(escapesProblem({ url: '/api/blacklist-monitor/ip' })).toBeNull()
})

test('cookies with such escapes are dropped, and others stay', () => {
  const request = (cookie: string) => ({ headers: { cookie }, rawHeaders: ['Host', '%00', 'COOKIE', cookie] })
  const mixed = request('a=1; b=%00; c=%c3%a4;d=%ff')
  dropUnreadableCookies(mixed)
  expect(mixed).toEqual({
    headers: { cookie: 'a=1; c=%c3%a4' },
    rawHeaders: ['Host', '%00', 'COOKIE', 'a=1; c=%c3%a4'],
  })
  const good = request('a=1;  b=%25')
  dropUnreadableCookies(good)
  expect(good).toEqual(request('a=1;  b=%25'))
})
