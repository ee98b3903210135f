import { expect, test } from 'vitest'
import { createTokens } from '../../src/billing/token.ts'
import { noon } from '../support/context.ts'

const tokens = createTokens(Buffer.alloc(32, 1))
const end = new Date(noon.getTime() + 60_000)
const token = tokens.sign('checkout', 'org_abc', end)

test('a token stands for its subject, for its purpose, until its end', () => {
  expect(encodeURIComponent(token)).toBe(token)
  expect(tokens.read('checkout', token, noon)).toBe('org_abc')
  expect(tokens.read('checkout', token, new Date(end.getTime() - 1))).toBe('org_abc')
  expect(tokens.read('checkout', token, end)).toBe(null)
  expect(tokens.read('payer', token, noon)).toBe(null)
  expect(tokens.read('renewal', token, noon)).toBe(null)
  expect(createTokens(Buffer.alloc(32, 2)).read('checkout', token, noon)).toBe(null)
})

test('a token that was changed in any place stands for nothing', () => {
  for (let place = 0; place < token.length; place++) {
    for (const other of ['A', 'b', '.', '0']) {
      const changed = token.slice(0, place) + other + token.slice(place + 1)
      // The last of 43 characters of base64url carries two bits that count for nothing.
      const isSame = changed === token || (place === token.length - 1 && other !== '.')
      if (!isSame) expect(tokens.read('checkout', changed, noon), changed).toBe(null)
    }
  }
  for (const text of ['', '..', 'x', token.slice(1), `${token}=`, `${token} `, 'é'.repeat(60)]) {
    expect(tokens.read('checkout', text, noon)).toBe(null)
  }
})
