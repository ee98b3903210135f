import { expect, test } from 'vitest'
import { authenticate } from '../../src/account/api-key/authenticate.ts'
import { createOperatorToken } from '../../src/account/operator.ts'
import { Unauthenticated } from '../../src/core/errors.ts'
import { testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma } = await testDatabase()
const ctx = testContext(prisma)
const configured = testContext(prisma, { settings: { ADMIN_TOKEN: 'a token of my own' } })

// The tests share one database from its first start, and depend on each other.

test('a token in the settings is used, and none is created', async () => {
  expect(await createOperatorToken(configured)).toBeNull()
  expect(await prisma.operatorToken.count()).toBe(0)
  expect(await authenticate(configured, 'a token of my own')).toEqual({ kind: 'operator' })
  await expect(authenticate(configured, 'a token of my owN')).rejects.toThrow(Unauthenticated)
})

test('without a token no caller is the operator', async () => {
  await expect(authenticate(ctx, 'a token of my own')).rejects.toThrow(Unauthenticated)
})

test('exactly one of several concurrent starts creates the token, which is stored as a hash', async () => {
  const tokens = await Promise.all(Array.from({ length: 8 }, () => createOperatorToken(ctx)))
  const [token, ...others] = tokens.filter((each) => each !== null)
  expect(others).toEqual([])
  expect(token).toMatch(/^op_[0-9a-v]{40}$/)
  expect(await authenticate(ctx, token ?? '')).toEqual({ kind: 'operator' })
  const rows = await prisma.operatorToken.findMany()
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain(token?.slice(3))
  expect(await createOperatorToken(ctx)).toBeNull()

  // A token in the settings replaces the generated one.
  await expect(authenticate(configured, token ?? '')).rejects.toThrow(Unauthenticated)
})
