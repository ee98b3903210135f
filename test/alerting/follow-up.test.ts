// @slow
import { expect, test } from 'vitest'
import { deleteAlertChannel } from '../../src/alerting/channel.ts'
import { EARLIEST_FOLLOW_UP } from '../../src/alerting/follow-up.ts'
import type { Tenant } from '../status/setup.ts'
import { testDatabase } from '../support/database.ts'
import { alertedWithReceiver } from './setup.ts'

const database = await testDatabase()
const { prisma } = database
const { receiver, alerted } = await alertedWithReceiver(database)

const topics = () => receiver.received.map(({ body }) => JSON.parse(body).topic)

/** A tenant with a monitor that is down, and a channel that is reminded after ten minutes. */
async function failing(topic: string) {
  const tenant = await alerted.tenant()
  const channel = await alerted.channel(tenant, { ntfy: { topic }, remindAfterMinutes: 10 })
  const monitor = await alerted.monitor(tenant, 'API')
  await alerted.setState(tenant, [monitor], 'DOWN')
  await alerted.run(tenant, 1)
  return { tenant, channel, monitor }
}

const alertsOf = ({ id: organizationId }: Tenant) => prisma.alert.findMany({ where: { organizationId } })
const earliest = async () =>
  (await prisma.$queryRaw<{ at: Date | null }[]>`SELECT (${EARLIEST_FOLLOW_UP}) AS at`)[0]?.at

test('an organization whose follow-up fails does not stop the others, and is retried after a minute', async () => {
  const broken = await failing('broken')
  const sound = await failing('sound')
  expect(topics()).toEqual(['broken', 'sound'])
  await prisma.$executeRawUnsafe(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW."organizationId" = '${broken.tenant.id}' THEN RAISE EXCEPTION 'refused'; END IF; RETURN NEW; END $$`)
  await prisma.$executeRaw`CREATE TRIGGER refuse BEFORE INSERT ON "AlertDelivery" FOR EACH ROW EXECUTE FUNCTION refuse()`
  await alerted.run(sound.tenant, 12)
  expect(topics()).toEqual(['broken', 'sound', 'sound'])
  await prisma.$executeRaw`DROP TRIGGER refuse ON "AlertDelivery"`
  await prisma.$executeRaw`DROP FUNCTION refuse()`
  await alerted.run(broken.tenant, 2)
  expect(topics()).toEqual(['broken', 'sound', 'sound', 'broken'])
  for (const { tenant, monitor } of [broken, sound]) {
    await alerted.setState(tenant, [monitor], 'UP')
    await alerted.run(tenant, 1)
  }
})

test('a deleted organization gets no reminders, and gets them once it is restored', async () => {
  const { tenant } = await failing('deleted')
  const [deletedAt, erasureDueAt] = [alerted.now(), new Date(alerted.now().getTime() + 30 * 86_400_000)]
  await prisma.organization.update({ where: { id: tenant.id }, data: { deletedAt, erasureDueAt } })
  await alerted.run(tenant, 12)
  expect(topics()).toEqual(['deleted'])
  expect(await earliest()).toBeNull()
  await prisma.organization.update({ where: { id: tenant.id }, data: { deletedAt: null, erasureDueAt: null } })
  expect(await earliest()).not.toBeNull()
  await alerted.run(tenant, 1)
  expect(topics()).toEqual(['deleted', 'deleted'])
})

test('an alert ends with its problem even if its last channel was deleted; then none begins', async () => {
  const { tenant, channel, monitor } = await failing('last')
  await deleteAlertChannel(alerted.own(tenant), channel.id)
  await alerted.setState(tenant, [monitor], 'UP')
  await alerted.run(tenant, 1)
  expect(await alertsOf(tenant)).toMatchObject([{ state: 'UP', endedAt: expect.any(Date), dueAt: null }])
  const other = await alerted.monitor(tenant, 'Other')
  await alerted.setState(tenant, [monitor, other], 'DOWN')
  await alerted.run(tenant, 1)
  expect(await alertsOf(tenant)).toHaveLength(1)
})
