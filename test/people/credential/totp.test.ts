import { describe, expect, test } from 'vitest'
import { newTotpSecret, stepOfCode, totpCode, totpUrl } from '../../../src/people/credential/totp.ts'

/** The ASCII text 12345678901234567890 of RFC 6238, appendix B, in base32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

describe('a code', () => {
  // The last six of the eight digits in the RFC.
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at %d s is %s (RFC 6238, appendix B)', (seconds, code) => {
    expect(totpCode(secret, Math.floor(seconds / 30))).toBe(code)
  })

  const now = new Date(1_234_567_890_000)
  const step = Math.floor(1_234_567_890 / 30)

  test.each([
    [-2, null],
    [-1, step - 1],
    [0, step],
    [1, step + 1],
    [2, null],
  ])('%d steps from now is accepted as step %s', (offset, accepted) => {
    expect(stepOfCode(secret, totpCode(secret, step + offset), now, null)).toBe(accepted)
  })

  test('is refused after it or a later one was accepted', () => {
    expect(stepOfCode(secret, totpCode(secret, step), now, step)).toBeNull()
    expect(stepOfCode(secret, totpCode(secret, step - 1), now, step)).toBeNull()
    expect(stepOfCode(secret, totpCode(secret, step + 1), now, step)).toBe(step + 1)
  })

  test('is refused when it is not a code at all', () => {
    for (const text of ['', '12345', '1234567', 'abcdef', '٠٠٥٩٢٤'])
      expect(stepOfCode(secret, text, now, null)).toBeNull()
  })
})

describe('a secret', () => {
  test('has 160 random bits in base32', () => {
    const secrets = new Set(Array.from({ length: 100 }, newTotpSecret))
    expect(secrets.size).toBe(100)
    for (const each of secrets) expect(each).toMatch(/^[A-Z2-7]{32}$/)
  })

  test('is passed to the app in a URL that escapes the account', () => {
    expect(totpUrl('ABC', 'a&b@example.com', 'All clear')).toBe(
      'otpauth://totp/All%20clear:a%26b%40example.com?secret=ABC&issuer=All%20clear',
    )
  })
})
