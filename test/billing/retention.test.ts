import { expect, test } from 'vitest'
import { createOrganization } from '../../src/account/organization/organization.ts'
import { deleteOldPayloads } from '../../src/billing/retention.ts'
import { assignPayment } from '../../src/billing/subscription/payment.ts'
import { DAY } from '../../src/core/time.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma } = await testDatabase()
const operator = testContext(prisma, { actor: { kind: 'operator' } })

test('empties old payloads, except those of unassigned payments, and deletes events unrelated to what we sell', async () => {
  const add = (id: string, outcome: 'APPLIED' | 'UNMATCHED' | 'IGNORED', days: number) => {
    const at = new Date(noon.getTime() - days * DAY)
    const about = { type: 'checkout.session.completed', payload: '{}', email: 'a@b.example', amount: 9900 }
    const data = { id, provider: 'STRIPE', createdAt: at, receivedAt: at, ...about, currency: 'usd', outcome } as const
    return prisma.paymentEvent.create({ data })
  }
  await add('evt_applied', 'APPLIED', 401)
  await add('evt_waiting', 'UNMATCHED', 401)
  await add('evt_ignored', 'IGNORED', 401)
  await add('evt_new', 'APPLIED', 399)
  await add('evt_new_ignored', 'IGNORED', 399)
  const counted: Record<string, number> = {}
  const count = (table: string, rows: number) => {
    counted[table] = rows
  }
  expect(await deleteOldPayloads(operator, 400, count)).toBe(false)
  expect(counted).toEqual({ PaymentEvent: 1, 'PaymentEvent.payload': 1 })
  const rows = await prisma.paymentEvent.findMany({ orderBy: { id: 'asc' } })
  expect(rows.map(({ id, payload, email, amount }) => [id, payload, email, amount])).toEqual([
    ['evt_applied', '', null, 9900],
    ['evt_new', '{}', 'a@b.example', 9900],
    ['evt_new_ignored', '{}', 'a@b.example', 9900],
    ['evt_waiting', '{}', 'a@b.example', 9900],
  ])
  await deleteOldPayloads(operator, 400, count)
  expect(counted).toEqual({ PaymentEvent: 0, 'PaymentEvent.payload': 0 })

  const fields = { name: 'Acme', slug: 'acme', contactEmail: 'ops@acme.example' }
  const { organization } = await createOrganization(operator, fields)
  const assignment = { paymentEventId: 'evt_applied', organizationId: organization.id, tier: 'PRO' }
  await expect(assignPayment(operator, assignment)).rejects.toThrow('no longer stored')
})
