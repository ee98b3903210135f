// @slow
import { afterAll, afterEach, expect, test } from 'vitest'
import { createMailer } from '../../../src/notification/channel/mailer.ts'
import { readMailState } from '../../../src/notification/mail/mail-state.ts'
import { testDatabase } from '../../support/database.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { notifiedIn, site } from '../setup.ts'

const database = await testDatabase()
const { prisma } = database
const notified = notifiedIn(database)
const server = await startMailServer()
const mailer = createMailer({ SMTP_URL: server.url, MAIL_FROM: 'status@page.example' }, site)
afterAll(() => {
  mailer?.close()
  return server.close()
})
afterEach(() => prisma.delivery.deleteMany())

let pages = 0

/** A page with five subscribers by email, and an incident that was sent to them. */
async function incidentWithReaders() {
  const tenant = await notified.tenant()
  const domain = `reader${++pages}.example`
  const addresses = ['ada', 'ben', 'cem', 'dan', 'eve'].map((name) => `${name}@${domain}`)
  for (const email of addresses) await notified.subscriber(tenant, { email })
  const worker = notified.worker({ mailer })
  await notified.incident(tenant, 'Outage')
  await notified.tick(tenant, worker)
  return { tenant, worker }
}
const deliveriesOf = (organizationId: string) => prisma.delivery.findMany({ where: { organizationId } })
const stoppedOf = (organizationId: string) =>
  prisma.subscriber.count({ where: { organizationId, OR: [{ stoppedAt: { not: null } }, { bounces: { gt: 0 } }] } })

test.each([
  ['a policy', '550 5.7.1 Our list of senders refuses you'],
  ['relaying', '554 5.7.1 Relay access denied'],
  ['an unverified sender', '554 Message rejected: Email address is not verified'],
])(
  'email that is refused because of us (%s) waits, stops nobody, and leaves at once after the repair',
  async (_, words) => {
    server.refusal = () => words
    const { tenant, worker } = await incidentWithReaders()
    for (let update = 0; update < 4; update++) await notified.incident(tenant, `Outage ${update}`)
    await notified.tick(tenant, worker)
    await notified.pass(300, worker, 30)
    expect(await stoppedOf(tenant.id)).toBe(0)
    expect(new Set((await deliveriesOf(tenant.id)).map(({ status }) => status))).toEqual(new Set(['PENDING']))
    expect((await readMailState(notified.system)).refusal).toBe(words)
    expect(mailer?.isFailing()).toBe(true)

    server.refusal = () => null
    server.mails.length = 0
    // Pauses have grown to two hours; the first to be due brings all others with it.
    await notified.pass(120, worker, 5)
    const firstAt = (await readMailState(notified.system)).deliveredAt
    expect(server.mails.length).toBe(25)
    const ended = (await deliveriesOf(tenant.id)).map(({ endedAt }) => endedAt?.getTime() ?? 0)
    expect(Math.max(...ended) - Math.min(...ended)).toBeLessThanOrEqual(5 * 60_000)
    expect(firstAt).not.toBe(null)
    expect((await readMailState(notified.system)).refusal).toBe(null)
    expect(mailer?.isFailing()).toBe(false)
  },
)

test('three refusals of an address stop it, and only it', async () => {
  server.refusal = (to) => (to.startsWith('ada@') ? '550 5.1.1 User unknown' : null)
  const { tenant, worker } = await incidentWithReaders()
  for (let update = 0; update < 2; update++) await notified.incident(tenant, `Outage ${update}`)
  await notified.tick(tenant, worker)
  const stopped = await prisma.subscriber.findMany({ where: { organizationId: tenant.id, stoppedAt: { not: null } } })
  expect(stopped).toMatchObject([{ address: expect.stringMatching(/^ada@/), stopReason: 'BOUNCED' }])
  expect((await readMailState(notified.system)).refusal).toBe(null)
})

test('a full mailbox is tried again, and does not count as a refusal of our email', async () => {
  server.refusal = (to) => (to.startsWith('ben@') ? '552 5.2.2 Mailbox full' : null)
  const { tenant, worker } = await incidentWithReaders()
  expect(await stoppedOf(tenant.id)).toBe(0)
  server.refusal = () => null
  await notified.pass(3, worker)
  expect((await deliveriesOf(tenant.id)).map(({ status }) => status)).toEqual(Array(5).fill('DELIVERED'))
})
