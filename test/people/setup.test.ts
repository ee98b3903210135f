import { beforeEach, describe, expect, test } from 'vitest'
import { Invalid, Unauthenticated } from '../../src/core/errors.ts'
import type { PeopleContext } from '../../src/people/context.ts'
import { userOfSession } from '../../src/people/session.ts'
import { createSetupToken, mayUseSetup, setUp } from '../../src/people/setup.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { peopleContext } from './setup.ts'

const { prisma } = await testDatabase()
let addresses = 0

function visitor(settings: NodeJS.ProcessEnv = {}, at = noon): PeopleContext {
  return peopleContext(prisma, { settings, clientAddress: `198.51.100.${++addresses}`, now: () => at })
}

const input = (slug: string) => ({
  email: `${slug}@example.com`,
  name: 'Ada',
  password: 'correct horse',
  organizationName: 'Example',
  slug,
})

beforeEach(async () => {
  await prisma.user.deleteMany()
  await prisma.organization.deleteMany()
  await prisma.usageCounter.deleteMany()
})

describe('the first start', () => {
  test('creates the operator, an organization and a session with a link', async () => {
    const ctx = visitor()
    const token = (await createSetupToken(ctx)) ?? ''
    const { organization, sessionToken } = await setUp(ctx, token, input('first'), 'b')
    const actor = await userOfSession(ctx, sessionToken)
    expect(actor).toMatchObject({ isOperator: true })
    expect([...(actor?.memberships ?? [])]).toEqual([[organization.id, { role: 'OWNER', checkPlan: 'FREE' }]])
    expect(await createSetupToken(ctx)).toBeNull()
  })

  test('has a link that works once, even if it is used twice at the same time', async () => {
    const token = (await createSetupToken(visitor())) ?? ''
    const tries = await Promise.allSettled(['one', 'two'].map((slug) => setUp(visitor(), token, input(slug), 'b')))
    expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await prisma.user.count()).toBe(1)
    expect(await prisma.organization.count()).toBe(1)
  })

  test('keeps its link when a field is invalid', async () => {
    const token = (await createSetupToken(visitor())) ?? ''
    await expect(setUp(visitor(), token, { ...input('short'), password: 'short' }, 'b')).rejects.toThrow(Invalid)
    expect(await mayUseSetup(visitor(), token)).toBe(true)
  })

  test('prints a new link on each start, which replaces the previous one and expires after a week', async () => {
    const first = (await createSetupToken(visitor())) ?? ''
    const second = (await createSetupToken(visitor())) ?? ''
    expect([await mayUseSetup(visitor(), first), await mayUseSetup(visitor(), second)]).toEqual([false, true])
    const later = new Date(noon.getTime() + 7 * 86_400_000)
    expect(await mayUseSetup(visitor({}, later), second)).toBe(false)
  })

  test.each(['', 'x', 'A'.repeat(43)])('refuses the token %j', async (token) => {
    await createSetupToken(visitor())
    await expect(setUp(visitor(), token, input('thief'), 'b')).rejects.toThrow(Unauthenticated)
    expect(await prisma.user.count()).toBe(0)
  })

  test('asks for ADMIN_TOKEN when it is set', async () => {
    const settings = { ADMIN_TOKEN: 'the-token-of-the-operator' }
    expect(await createSetupToken(visitor(settings))).toBeNull()
    await expect(setUp(visitor(settings), 'wrong', input('admin'), 'b')).rejects.toThrow(Unauthenticated)
    await setUp(visitor(settings), settings.ADMIN_TOKEN, input('admin'), 'b')
    await expect(setUp(visitor(settings), settings.ADMIN_TOKEN, input('again'), 'b')).rejects.toThrow(Unauthenticated)
  })
})
