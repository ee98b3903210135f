import { afterEach, beforeEach, expect, test } from 'vitest'
import { hashSecret } from '../../src/core/hash-secret.ts'
import { SECOND } from '../../src/core/time.ts'
import type { IntegrationContext } from '../../src/integration/integration.ts'
import { createIntegration } from '../../src/integration/integration.ts'
import { createReceiveLimits, receive } from '../../src/integration/receive.ts'
import { createIncomingWorker } from '../../src/integration/worker.ts'
import { seal, site } from '../notification/setup.ts'
import { tenantsOf } from '../status/setup.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
let seconds = 0
beforeEach(() => {
  seconds = 0
})
afterEach(async () => {
  await prisma.$executeRaw`DROP TRIGGER fail ON "IncomingGroup"`
  await prisma.$executeRaw`DROP FUNCTION fail()`
})

/** Three bodies, of which the second fails with this error of PostgreSQL. Returns the statuses after each minute. */
async function statuses(minutes: number, errorCode: string) {
  const now = () => new Date(noon.getTime() + seconds * SECOND)
  const acme = await tenant('TEAM')
  const [serviceId = ''] = await acme.services('Shop')
  const ctx: IntegrationContext = { ...acme.ctx, now, seal, site }
  const input = { name: 'Prom', kind: 'GENERIC', rules: [{ serviceId }] }
  const { integration, secret } = await createIntegration(ctx, input)
  const outbound = { request: () => Promise.reject(new Error('No request is expected.')) }
  const worker = createIncomingWorker({ ctx: testContext(prisma, { now }), seal, outbound })
  await prisma.$executeRawUnsafe(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW."keyHash" = '${hashSecret('Poison\nSUGGEST')}' THEN RAISE EXCEPTION 'failed' USING ERRCODE = '${errorCode}'; END IF;
    RETURN NEW; END $$`)
  await prisma.$executeRaw`CREATE TRIGGER fail BEFORE INSERT ON "IncomingGroup" FOR EACH ROW EXECUTE FUNCTION fail()`
  for (const title of ['First', 'Poison', 'Last']) {
    const body = Buffer.from(JSON.stringify({ title, key: title, state: 'firing' }))
    await receive({ ...ctx, receiveLimits: createReceiveLimits() }, secret ?? '', { body, header: () => undefined })
  }
  const found: string[] = []
  for (let minute = 0; minute <= minutes; minute++) {
    await worker.poll()
    await worker.idle()
    const where = { integrationId: integration.id }
    const bodies = await prisma.incomingBody.findMany({ where, orderBy: { position: 'asc' } })
    found.push(bodies.map(({ status }) => status).join(' '))
    seconds += 61
  }
  return found
}

test('a body that fails again and again holds up the later ones for five minutes, and is then refused', async () => {
  const waiting = 'DONE PENDING PENDING'
  expect(await statuses(5, 'P0001')).toEqual([waiting, waiting, waiting, waiting, waiting, 'DONE REFUSED DONE'])
  expect(await prisma.incomingGroup.count({ where: { isFiring: true } })).toBe(2)
  expect(await prisma.event.count({ where: { kind: 'INCOMING_ALERT_REFUSED' } })).toBe(1)
})

test('a body is never refused because the database cancels statements', async () => {
  expect((await statuses(8, '57014')).at(-1)).toBe('DONE PENDING PENDING')
})
