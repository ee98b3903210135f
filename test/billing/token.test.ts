import { expect, test } from 'vitest'
import { createTokens } from '../../src/billing/token.ts'
import { noon } from '../support/context.ts'

const tokens = createTokens(Buffer.alloc(32, 1))
const end = new Date(noon.getTime() + 60_000)
const token = tokens.sign('checkout', 'org_abc', end)

test('a token is valid for its subject and purpose until it expires', () => {
  expect(encodeURIComponent(token)).toBe(token)
  expect(tokens.read('checkout', token, noon)).toBe('org_abc')
  expect(tokens.read('checkout', token, new Date(end.getTime() - 1))).toBe('org_abc')
  expect(tokens.read('checkout', token, end)).toBe(null)
  expect(tokens.read('payer', token, noon)).toBe(null)
  expect(tokens.read('renewal', token, noon)).toBe(null)
  expect(createTokens(Buffer.alloc(32, 2)).read('checkout', token, noon)).toBe(null)
})

test('a changed token is invalid', () => {
  for (let place = 0; place < token.length; place++) {
    for (const other of ['A', 'b', '.', '0']) {
      const changed = token.slice(0, place) + other + token.slice(place + 1)
      // The last of 43 base64url characters has two unused bits.
      const isSame = changed === token || (place === token.length - 1 && other !== '.')
      if (!isSame) expect(tokens.read('checkout', changed, noon), changed).toBe(null)
    }
  }
  for (const text of ['', '..', 'x', token.slice(1), `${token}=`, `${token} `, 'é'.repeat(60)]) {
    expect(tokens.read('checkout', text, noon)).toBe(null)
  }
})
