import { expect, test } from 'vitest'
import { RateLimited } from '../../src/core/errors.ts'
import { limitAttempts } from '../../src/people/attempt-limit.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { peopleContext } from './setup.ts'

const { prisma } = await testDatabase()
let made = 0

/** An instance of the service, as a client at an address sees it; each address is new unless given. */
function instance({ from = `2001:db8:${(++made).toString(16)}::1`, at = noon } = {}) {
  return peopleContext(prisma, { clientAddress: from, now: () => at })
}

const wrong = async () => null
const right = async () => 'proven'
const minutes = (count: number) => new Date(noon.getTime() + count * 60_000)

test('an account has ten wrong answers in a quarter of an hour, over all instances and addresses', async () => {
  const answers = await Promise.allSettled(
    Array.from({ length: 14 }, () => limitAttempts(instance(), 'a@example.com', wrong)),
  )
  expect(answers.filter(({ status }) => status === 'rejected')).toHaveLength(4)
  await expect(limitAttempts(instance(), 'a@example.com', right)).rejects.toThrow(RateLimited)
  expect(await limitAttempts(instance({ at: minutes(15) }), 'a@example.com', right)).toBe('proven')
})

test('a network has thirty, also when each is about another account', async () => {
  const guess = (index: number) =>
    limitAttempts(instance({ from: `2001:db8:ffff:1::${index}` }), `guess-${index}@example.com`, wrong)
  for (let index = 1; index <= 30; index++) expect(await guess(index)).toBeNull()
  await expect(guess(31)).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAt: minutes(15) })
})

test('right answers do not count', async () => {
  for (let count = 0; count < 40; count++) {
    expect(await limitAttempts(instance({ from: '2001:db8:ffff:2::1' }), 'b@example.com', right)).toBe('proven')
  }
})

test('an attempt counts before it is decided', async () => {
  for (let count = 0; count < 9; count++) await limitAttempts(instance(), 'c@example.com', wrong)
  let decide = (_answer: null) => {}
  let tenth: Promise<null> | undefined
  await new Promise<void>((begun) => {
    const undecided = () => {
      begun()
      return new Promise<null>((resolve) => {
        decide = resolve
      })
    }
    tenth = limitAttempts(instance(), 'c@example.com', undecided)
  })
  await expect(limitAttempts(instance(), 'c@example.com', right)).rejects.toThrow(RateLimited)
  decide(null)
  expect(await tenth).toBeNull()
})
