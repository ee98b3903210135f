import { afterAll, expect, test } from 'vitest'
import { createMailer } from '../../../src/notification/channel/mailer.ts'
import { testDatabase } from '../../support/database.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { notifiedIn, site } from '../setup.ts'

const database = await testDatabase()
const { prisma } = database
const notified = notifiedIn(database)
const server = await startMailServer()
const mailer = createMailer({ SMTP_URL: server.url, MAIL_FROM: 'status@allclear.example' }, site)
afterAll(async () => {
  mailer?.close()
  await server.close()
})

test('an address with three permanent failures in a row is stopped', async () => {
  const tenant = await notified.tenant()
  const worker = notified.worker({ mailer })
  const { id } = await notified.subscriber(tenant, { email: 'ada@reader.example' })
  const subscriber = () => prisma.subscriber.findUniqueOrThrow({ where: { id } })
  const notify = async (title: string) => {
    await notified.incident(tenant, title)
    await notified.tick(tenant, worker)
  }

  server.refusal = () => '550 5.1.1 No such mailbox'
  await notify('One')
  await notify('Two')
  expect(await subscriber()).toMatchObject({ bounces: 2, stoppedAt: null })
  server.refusal = () => null
  await notify('Three')
  expect(await subscriber()).toMatchObject({ bounces: 0 })

  server.refusal = () => '550 5.1.1 No such mailbox'
  for (const title of ['Four', 'Five', 'Six', 'Seven']) await notify(title)
  expect(await subscriber()).toMatchObject({ bounces: 3, stopReason: 'BOUNCED' })
  const deliveries = await prisma.delivery.findMany({ where: { subscriberId: id }, orderBy: { seq: 'asc' } })
  expect(deliveries.map(({ status }) => status)).toEqual([
    'FAILED',
    'FAILED',
    'DELIVERED',
    'FAILED',
    'FAILED',
    'FAILED',
  ])
})

test('a temporary failure is retried and does not count as a bounce', async () => {
  const tenant = await notified.tenant()
  const worker = notified.worker({ mailer })
  const { id } = await notified.subscriber(tenant, { email: 'grey@reader.example' })
  server.refusal = () => '451 4.7.1 Greylisted'
  await notified.incident(tenant, 'One')
  await notified.tick(tenant, worker)
  server.refusal = () => null
  await notified.pass(1, worker)
  expect(await prisma.subscriber.findUniqueOrThrow({ where: { id } })).toMatchObject({ bounces: 0 })
  expect(server.mails.filter(({ envelopeTo }) => envelopeTo === 'grey@reader.example').length).toBe(1)
})
