// @slow
import { describe, expect, test } from 'vitest'
import { RateLimited } from '../../src/core/errors.ts'
import { limitAttempts, limitLinks, limitPageAttempts, limitRequests } from '../../src/people/attempt-limit.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { peopleContext } from './setup.ts'

const { prisma } = await testDatabase()
let made = 0

/** An instance of the service, seen by a client at an address; a new address by default. */
function instance({ from = `2001:db8:${(++made).toString(16)}::1`, at = noon } = {}) {
  return peopleContext(prisma, { clientAddress: from, now: () => at })
}

const stranger = (account: string) => ({ account, browser: null })
const wrong = async () => null
const right = async () => 'proven'
const minutes = (count: number) => new Date(noon.getTime() + count * 60_000)

test('an account allows a hundred wrong answers in a quarter of an hour, from all instances and addresses together', async () => {
  const account = stranger('a@example.com')
  const answers = await Promise.allSettled(Array.from({ length: 104 }, () => limitAttempts(instance(), account, wrong)))
  expect(answers.filter(({ status }) => status === 'rejected')).toHaveLength(4)
  await expect(limitAttempts(instance(), account, right)).rejects.toThrow(RateLimited)
  expect(await limitAttempts(instance({ at: minutes(15) }), account, right)).toBe('proven')
})

test('one network has ten of them, and does not lock out others', async () => {
  const account = stranger('d@example.com')
  const from = '2001:db8:ffff:3::1'
  for (let count = 0; count < 10; count++) expect(await limitAttempts(instance({ from }), account, wrong)).toBeNull()
  for (let count = 0; count < 30; count++) {
    await expect(limitAttempts(instance({ from }), account, right)).rejects.toThrow(RateLimited)
  }
  expect(await limitAttempts(instance(), account, right)).toBe('proven')
})

test.each([
  ['IPv6 /48', (index: number) => `2001:db8:fffe:${index.toString(16)}::1`],
  ['IPv4 /24', (index: number) => `192.0.2.${index}`],
])('one %s has twenty of them, and does not lock out others', async (_network, from) => {
  const account = stranger(`${_network}@example.com`)
  const attempt = (index: number, answer: typeof wrong | typeof right) =>
    limitAttempts(instance({ from: from(index) }), account, answer)
  for (let index = 1; index <= 20; index++) expect(await attempt(index, wrong)).toBeNull()
  for (let index = 21; index <= 120; index++) await expect(attempt(index, right)).rejects.toThrow(RateLimited)
  expect(await limitAttempts(instance(), account, right)).toBe('proven')
})

test('a private page allows thirty wrong answers from one wide network, and others go on', async () => {
  const attempt = (index: number) =>
    limitPageAttempts(instance({ from: `2001:db8:fffd:${index.toString(16)}::1` }), 'pag_1', wrong)
  for (let index = 1; index <= 30; index++) expect(await attempt(index)).toBeNull()
  await expect(attempt(31)).rejects.toThrow(RateLimited)
  expect(await limitPageAttempts(instance(), 'pag_1', right)).toBe('proven')
})

describe('links to an email address', () => {
  const link = (email: string, about: Partial<Parameters<typeof limitLinks>[1]> = {}) => ({
    email,
    purpose: 'account' as const,
    browser: null,
    ...about,
  })

  test('are three from one network and five from a wide one, and others go on', async () => {
    const email = 'links@example.com'
    const from = (subnet: number) => instance({ from: `2001:db8:fffc:${subnet}::1` })
    for (let count = 0; count < 3; count++) await limitLinks(from(1), link(email))
    await expect(limitLinks(from(1), link(email))).rejects.toThrow(RateLimited)
    for (const subnet of [2, 3]) await limitLinks(from(subnet), link(email))
    await expect(limitLinks(from(4), link(email))).rejects.toThrow(RateLimited)
    await limitLinks(instance(), link(email))
  })

  test('are fifteen from everywhere, but a known browser and other purposes have their own', async () => {
    const email = 'flooded@example.com'
    for (let count = 0; count < 15; count++) await limitLinks(instance(), link(email))
    await expect(limitLinks(instance(), link(email))).rejects.toThrow(RateLimited)
    for (let count = 0; count < 3; count++) await limitLinks(instance(), link(email, { browser: 'device 1' }))
    await expect(limitLinks(instance(), link(email, { browser: 'device 1' }))).rejects.toThrow(RateLimited)
    const neighbours = { from: '2001:db8:fffb::1' }
    for (let count = 0; count < 60; count++) await limitRequests(instance(neighbours))
    await expect(limitRequests(instance(neighbours))).rejects.toThrow(RateLimited)
    await limitLinks(instance(neighbours), link(email, { browser: 'device 2' }))
    for (const purpose of ['sign-up', 'page'] as const) await limitLinks(instance(), link(email, { purpose }))
  })
})

test('a browser in which the person has signed in before has ten of its own, regardless of strangers', async () => {
  const account = 'e@example.com'
  const from = '2001:db8:ffff:4::1'
  const known = { account, browser: 'device 1' }
  await Promise.allSettled(Array.from({ length: 110 }, () => limitAttempts(instance(), stranger(account), wrong)))
  await Promise.allSettled(Array.from({ length: 40 }, () => limitAttempts(instance({ from }), stranger('x'), wrong)))
  for (let count = 0; count < 10; count++) {
    expect(await limitAttempts(instance({ from }), known, right)).toBe('proven')
    expect(await limitAttempts(instance({ from }), known, wrong)).toBeNull()
  }
  await expect(limitAttempts(instance({ from }), known, right)).rejects.toThrow(RateLimited)
  expect(await limitAttempts(instance({ from }), { account, browser: 'device 2' }, right)).toBe('proven')
})

test('a network has thirty, even if each is for a different account', async () => {
  const guess = (index: number) =>
    limitAttempts(instance({ from: `2001:db8:ffff:1::${index}` }), stranger(`guess-${index}@example.com`), wrong)
  for (let index = 1; index <= 30; index++) expect(await guess(index)).toBeNull()
  await expect(guess(31)).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAt: minutes(15) })
})

test('correct answers do not count', async () => {
  const from = '2001:db8:ffff:2::1'
  for (let count = 0; count < 40; count++) {
    expect(await limitAttempts(instance({ from }), stranger('b@example.com'), right)).toBe('proven')
  }
})

test('an attempt counts before its result is known', async () => {
  const account = stranger('c@example.com')
  for (let count = 0; count < 99; count++) await limitAttempts(instance(), account, wrong)
  let decide = (_answer: null) => {}
  let hundredth: Promise<null> | undefined
  await new Promise<void>((begun) => {
    const undecided = () => {
      begun()
      return new Promise<null>((resolve) => {
        decide = resolve
      })
    }
    hundredth = limitAttempts(instance(), account, undecided)
  })
  await expect(limitAttempts(instance(), account, right)).rejects.toThrow(RateLimited)
  decide(null)
  expect(await hundredth).toBeNull()
})
