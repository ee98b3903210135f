import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { createOrganization } from '../../src/account/organization.ts'
import { takeStripeEvent } from '../../src/billing/payment.ts'
import { openDatabase } from '../../src/database/client.ts'
import { startChild } from '../support/child.ts'
import { testContext } from '../support/context.ts'
import { copyDataDir, serverDatabase, serverUrl } from '../support/database.ts'
import { silent, temporaryDirectory } from '../support/scratch.ts'
import { checkout } from './events.ts'

async function place(): Promise<{ where: string; remove(): Promise<void> }> {
  if (serverUrl !== undefined) {
    const { url, remove } = await serverDatabase(serverUrl, inject('databaseTemplate'))
    return { where: url, remove }
  }
  const { path, remove } = await temporaryDirectory()
  copyDataDir(inject('databaseTemplate'), join(path, 'data'))
  return { where: join(path, 'data'), remove }
}

const open = (where: string) =>
  openDatabase({ dataDir: where, databaseUrl: serverUrl === undefined ? undefined : where, log: silent })

test.each([
  ['before', 'FREE', 0],
  ['after', 'PRO', 1],
])(
  'a process killed %s the commit and before the answer: sent again, the event takes effect once',
  async (stop, tier, changes) => {
    const { where, remove } = await place()
    const first = await open(where)
    const fields = { name: 'Acme', slug: 'acme', contactEmail: 'ops@acme.example' }
    const operator = testContext(first.prisma, { actor: { kind: 'operator' } })
    const { id } = (await createOrganization(operator, fields)).organization
    await first.close()

    const body = JSON.stringify(checkout({ reference: id }))
    const child = startChild('billing-child', [stop, where, body])
    expect(await child.line()).toBe('stored')
    await child.kill()

    const { prisma, close } = await open(where)
    const state = async () => ({
      tier: (await prisma.organization.findUniqueOrThrow({ where: { id } })).tier,
      changes: await prisma.event.count({ where: { organizationId: id, kind: 'TIER_CHANGED' } }),
      events: await prisma.paymentEvent.count(),
    })
    expect(await state()).toEqual({ tier, changes, events: changes })
    await takeStripeEvent(testContext(prisma), body)
    expect(await state()).toEqual({ tier: 'PRO', changes: 1, events: 1 })
    await close()
    await remove()
  },
  60_000,
)
