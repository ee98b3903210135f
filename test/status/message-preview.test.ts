import { expect, test } from 'vitest'
import { previewMessage } from '../../src/status/message-preview.ts'
import { testDatabase } from '../support/database.ts'
import { tenantsOf } from './setup.ts'

const { prisma } = await testDatabase()
const newTenant = tenantsOf(prisma)

test('a message is previewed as the page shows it', async () => {
  const { ctx } = await newTenant()
  expect(await previewMessage(ctx, { message: 'It is **slow** <b>.' })).toContain('<strong>slow</strong> &lt;b&gt;.')
})

test('a preview needs a message, and the scope to write', async () => {
  const { ctx, as } = await newTenant()
  await expect(previewMessage(ctx, { message: ' ' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await expect(previewMessage(as('READ'), { message: 'Words.' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})
