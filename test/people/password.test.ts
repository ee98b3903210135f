import { describe, expect, test, vi } from 'vitest'
import { Unavailable } from '../../src/core/errors.ts'
import { hashPassword, newPassword, verifyPassword } from '../../src/people/password.ts'
import { PASSWORD_COST as ownCost } from '../../src/people/password-cost.ts'

test.each([
  ['of the service', ownCost, /^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/],
  ['of the tests', undefined, /^scrypt\$1024\$8\$3\$[\w-]{22}\$[\w-]{43}$/],
])('at the cost %s, only the same password matches a hash', async (_, cost, format) => {
  const hash = await hashPassword('correct horse battery', null, cost)
  expect(hash).toMatch(format)
  expect(await verifyPassword('correct horse battery', hash, null, cost)).toBe(true)
  expect(await verifyPassword('correct horse batterz', hash, null, cost)).toBe(false)
})

test('the same password has a different hash each time', async () => {
  expect(await hashPassword('the same again')).not.toBe(await hashPassword('the same again'))
})

test('the same characters in two Unicode forms are the same password', async () => {
  expect(await verifyPassword('cafe\u0301 au lait', await hashPassword('café au lait'))).toBe(true)
})

describe('a text of 120,000 combining marks', () => {
  const marks = `${'correct horse '.repeat(15)}${'\u0301'.repeat(120_000)}`

  test('is never normalized whole, because that takes seconds, and matches no password', async () => {
    const normalize = vi.spyOn(String.prototype, 'normalize')
    const hash = await hashPassword(marks.slice(0, 200))
    for (const stored of [hash, null]) expect(await verifyPassword(marks, stored)).toBe(false)
    expect(await verifyPassword(marks.slice(0, 200), hash)).toBe(true)
    const lengths = normalize.mock.contexts.map((text) => String(text).length)
    normalize.mockRestore()
    expect(lengths).toEqual([200, 200, 200, 200])
  })

  test('is refused as a new password', () => {
    expect(newPassword.safeParse(marks).success).toBe(false)
    expect(newPassword.safeParse(marks.slice(0, 200)).success).toBe(true)
  })
})

test('nothing matches a missing hash, not even an empty password', async () => {
  for (const password of ['', 'anything']) expect(await verifyPassword(password, null)).toBe(false)
})

test('a network with too many hashes is refused, and leaves half of the places to others', async () => {
  const attempt = (client: string) => verifyPassword('x', null, client)
  const flood = Array.from({ length: 12 }, (_, index) => attempt(`2001:db8::${index.toString(16)}`))
  const others = [1, 2, 3, 4].map((index) => attempt(`192.0.2.${index}`))
  const [theirs, rest] = [await Promise.allSettled(flood), await Promise.allSettled(others)]
  const refused = theirs.filter(({ status }) => status === 'rejected')
  expect(refused).toHaveLength(7)
  for (const { reason } of refused as PromiseRejectedResult[]) expect(reason).toBeInstanceOf(Unavailable)
  expect(rest.map(({ status }) => status)).toEqual(Array(4).fill('fulfilled'))
})
