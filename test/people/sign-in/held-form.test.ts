import { expect, test } from 'vitest'
import { MINUTE } from '../../../src/core/time.ts'
import { storeHeldForm, takeHeldForm } from '../../../src/people/sign-in/held-form.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { peopleContext } from '../setup.ts'

const { prisma } = await testDatabase()
const visitor = (network: number) => peopleContext(prisma, { clientAddress: `198.51.100.${network}` })

test('a form is stored sealed, for 15 minutes, and returned once', async () => {
  const ctx = visitor(1)
  const token = (await storeHeldForm(ctx, 'What Ada typed')) ?? ''
  const rows = await prisma.oneTimeToken.findMany({ where: { purpose: 'HELD_FORM' } })
  expect(JSON.stringify(rows)).not.toMatch(new RegExp(`Ada|${token}`))
  expect(await takeHeldForm(ctx, `${token}x`)).toBeNull()
  expect(await takeHeldForm({ ...ctx, now: () => new Date(noon.getTime() + 16 * MINUTE) }, token)).toBeNull()
  expect(await takeHeldForm(ctx, token)).toBe('What Ada typed')
  expect(await takeHeldForm(ctx, token)).toBeNull()
})

test('a form that is too long, or that exceeds the limit of its network, is not stored', async () => {
  expect(await storeHeldForm(visitor(2), 'x'.repeat(65 * 1024))).toBeNull()
  const kept = []
  for (let count = 0; count < 61; count++) kept.push(await storeHeldForm(visitor(3), 'x'))
  expect(kept.map((token) => token !== null)).toEqual([...Array(60).fill(true), false])
})

test('a thousand forms of many networks are stored, which is 64 MiB, and more when those have expired', async () => {
  await prisma.oneTimeToken.deleteMany()
  const [createdAt, expiresAt] = [noon, new Date(noon.getTime() + 15 * MINUTE)]
  const rows = Array.from({ length: 999 }, (_, each) => ({ hash: `${each}`, purpose: 'HELD_FORM' as const }))
  await prisma.oneTimeToken.createMany({ data: rows.map((row) => ({ ...row, createdAt, expiresAt })) })
  expect(await storeHeldForm(visitor(4), 'x')).not.toBeNull()
  expect(await storeHeldForm(visitor(5), 'x')).toBeNull()
  const later = { ...visitor(5), now: () => new Date(noon.getTime() + 16 * MINUTE) }
  expect(await storeHeldForm(later, 'x')).not.toBeNull()
})
