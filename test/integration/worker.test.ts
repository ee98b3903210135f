import { expect, test } from 'vitest'
import { hashSecret } from '../../src/core/hash-secret.ts'
import { SECOND } from '../../src/core/time.ts'
import type { IntegrationContext } from '../../src/integration/integration.ts'
import { createIntegration } from '../../src/integration/integration.ts'
import { receive } from '../../src/integration/receive.ts'
import { createIncomingWorker } from '../../src/integration/worker.ts'
import { seal, site } from '../notification/setup.ts'
import { tenantsOf } from '../status/setup.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

test('a body that fails again and again holds up the later ones three times, and is then refused', async () => {
  let seconds = 0
  const now = () => new Date(noon.getTime() + seconds * SECOND)
  const acme = await tenant('TEAM')
  const [serviceId = ''] = await acme.services('Shop')
  const ctx: IntegrationContext = { ...acme.ctx, now, seal, site }
  const input = { name: 'Prom', kind: 'GENERIC', rules: [{ serviceId }] }
  const { secret } = await createIntegration(ctx, input)
  const system = testContext(prisma, { now })
  const outbound = { request: () => Promise.reject(new Error('No request is expected.')) }
  const worker = createIncomingWorker({ ctx: system, seal, outbound })
  // The second key cannot be stored.
  await prisma.$executeRawUnsafe(
    `ALTER TABLE "IncomingGroup" ADD CONSTRAINT sound CHECK ("keyHash" <> '${hashSecret('Poison\nSUGGEST')}')`,
  )
  for (const title of ['First', 'Poison', 'Last']) {
    const body = Buffer.from(JSON.stringify({ title, key: title, state: 'firing' }))
    await receive(ctx, secret ?? '', { body, header: () => undefined })
  }
  const states: string[][] = []
  for (let attempt = 0; attempt < 4; attempt++) {
    await worker.poll()
    await worker.idle()
    const bodies = await prisma.incomingBody.findMany({ orderBy: { position: 'asc' } })
    states.push(bodies.map(({ status }) => status))
    seconds += 61
  }
  expect(states).toEqual([
    ['DONE', 'PENDING', 'PENDING'],
    ['DONE', 'PENDING', 'PENDING'],
    ['DONE', 'REFUSED', 'DONE'],
    ['DONE', 'REFUSED', 'DONE'],
  ])
  expect(await prisma.incomingGroup.count({ where: { isFiring: true } })).toBe(2)
  expect(await prisma.event.count({ where: { kind: 'INCOMING_ALERT_REFUSED' } })).toBe(1)
})
