import { expect, test } from 'vitest'
import { previewMessage } from '../../../src/status/timeline/message-preview.ts'
import { testDatabase } from '../../support/database.ts'
import { tenantsOf } from '../setup.ts'

const { prisma } = await testDatabase()
const newTenant = tenantsOf(prisma)

test('a message is previewed as the page shows it', async () => {
  const { ctx } = await newTenant()
  const written = [
    { language: 'FR', message: 'C’est *lent*.' },
    { language: 'DE', title: 'Nur ein Titel', message: null },
  ]
  const { html, translations } = await previewMessage(ctx, { message: 'It is **slow** <b>.', translations: written })
  expect(html).toContain('<strong>slow</strong> &lt;b&gt;.')
  expect(translations).toEqual([{ language: 'FR', html: '<p>C’est <em>lent</em>.</p>' }])
})

test('a preview needs a message, and the scope to write', async () => {
  const { ctx, as } = await newTenant()
  await expect(previewMessage(ctx, { message: ' ' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  const blank = { message: 'Words.', translations: [{ language: 'DE', message: ' ' }] }
  await expect(previewMessage(ctx, blank)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await expect(previewMessage(as('READ'), { message: 'Words.' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})
