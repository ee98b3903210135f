import { expect, test } from 'vitest'
import { readPages } from '../../src/account/page/page.ts'
import { updatePageReports } from '../../src/account/page/page-reports.ts'
import { newId } from '../../src/core/id.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { buildNotification } from '../../src/notification/content/payload.ts'
import { dispatch } from '../../src/notification/delivery/dispatch.ts'
import { mailReports, reportMailOf } from '../../src/notification/subscriber/report-subscription.ts'
import { confirmSubscription } from '../../src/notification/subscriber/subscriber.ts'
import { createReports } from '../../src/status-page/report-job.ts'
import { writeMonitor } from '../monitoring/histories.ts'
import { notifiedIn } from '../notification/setup.ts'
import type { Tenant } from '../status/setup.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const database = await testDatabase()
const { prisma } = database
const notified = notifiedIn(database)
const { system } = notified

/** When November has ended in Berlin, an hour before it ends in London. */
const december = new Date('2026-11-30T23:00:00Z')
const setTime = (at: Date) => {
  notified.time = (at.getTime() - noon.getTime()) / MINUTE
}

async function offerAll(): Promise<void> {
  while (await createReports(system)) {}
}

/** A page in Berlin whose shop was down for an hour in November. */
async function filled() {
  setTime(noon)
  const tenant = await notified.tenant('TEAM')
  const createdAt = new Date('2026-01-01')
  await prisma.organization.update({ where: { id: tenant.id }, data: { timeZone: 'Europe/Berlin', createdAt } })
  const [shop = ''] = await tenant.services('Shop <b>')
  await writeMonitor(prisma, {
    organizationId: tenant.id,
    serviceId: shop,
    states: [
      ['UP', new Date('2026-08-01')],
      ['DOWN', new Date('2026-11-10T10:00:00Z')],
      ['UP', new Date('2026-11-10T11:00:00Z')],
    ],
    lastKnownAt: new Date('2027-03-01'),
  })
  await offerAll()
  const reports = async () => {
    await dispatch(system, tenant.id)
    return (
      await prisma.delivery.findMany({
        where: { organizationId: tenant.id, subjectId: { contains: '.' } },
        include: { subscriber: true },
        orderBy: [{ seq: 'asc' }],
      })
    ).map(({ subscriber, subjectId }) => `${subscriber.label} ${subjectId.split('.')[1]}`)
  }
  const page = async () => {
    const [found] = await readPages(prisma, 'organizationId', [tenant.id])
    if (found === undefined) throw new Error('There is a page.')
    return found
  }
  return { tenant, reports, page }
}

const wants = (tenant: Tenant, email: string, topics = ['REPORTS']) => notified.subscriber(tenant, { email, topics })
const publish = ({ ctx, id }: Tenant) => updatePageReports(ctx, { pageId: id, published: true })

test('a published report is sent once to each subscriber, six hours after its month in the page’s zone', async () => {
  const { tenant, reports } = await filled()
  await publish(tenant)
  await wants(tenant, 'reader@customer.example')
  await wants(tenant, 'other@customer.example', ['INCIDENTS'])
  setTime(new Date(december.getTime() + 6 * HOUR - 1))
  await offerAll()
  expect(await reports()).toEqual([])
  setTime(new Date(december.getTime() + 6 * HOUR))
  // Two workers at once, then one again.
  await Promise.all([createReports(system), createReports(system)])
  await offerAll()
  expect(await reports()).toEqual(['reader@customer.example 2026-11'])
  const announced = await prisma.event.findMany({ where: { organizationId: tenant.id, kind: 'REPORT_CREATED' } })
  expect(announced).toMatchObject([{ reportMonth: '2026-11', updateId: null }])

  const mails: { subject: string; text: string; html: string; list: { unsubscribeUrl: string } | null }[] = []
  const mailer = {
    domain: 'allclear.example',
    async send(mail: (typeof mails)[number]) {
      mails.push(mail)
      return { kind: 'delivered', status: 250, message: 'OK' } as const
    },
  }
  const worker = notified.worker({ mailer: mailer as never })
  await notified.tick(tenant, worker)
  const [mail] = mails
  expect(mails).toHaveLength(1)
  expect(mail?.subject).toMatch(/Report for November 2026$/)
  expect(mail?.text).toContain('Shop <b>: 99.861% uptime, down 1 h')
  expect(mail?.text).toContain(`https://allclear.example/status/${tenant.slug}/reports/2026-11`)
  expect(mail?.html).toContain('Shop &#60;b&#62;')
  expect(mail?.list?.unsubscribeUrl).toMatch(/\/unsubscribe$/)
})

test('an unpublished report is sent to members only, with a link to the console', async () => {
  const { tenant, reports, page } = await filled()
  const user = { id: newId('User'), email: `member-${tenant.slug}@acme.example`, name: 'Ann', createdAt: noon }
  await prisma.user.create({ data: user })
  await prisma.membership.create({
    data: { organizationId: tenant.id, userId: user.id, role: 'VIEWER', createdAt: noon },
  })
  const ctx = notified.owner(tenant)
  await wants(tenant, 'reader@customer.example')
  // An account does not prove that the address is the person's.
  await mailReports(ctx, tenant.id, user.email)
  expect(await reportMailOf(ctx, await page(), user.email)).toBe('PENDING')
  const asked = await prisma.subscriber.findFirstOrThrow({ where: { organizationId: tenant.id, label: user.email } })
  await confirmSubscription(ctx, notified.token(asked))
  expect(await reportMailOf(ctx, await page(), user.email)).toBe('ACTIVE')
  setTime(new Date(december.getTime() + DAY))
  await offerAll()
  expect(await reports()).toEqual([`${user.email} 2026-11`])
  const payload = await prisma.notificationPayload.findFirstOrThrow({ where: { organizationId: tenant.id } })
  expect(payload.content).toMatchObject({
    isPublished: false,
    consolePath: `/console/${tenant.slug}/reports/${(await page()).id}?month=2026-11`,
  })
  await prisma.membership.deleteMany({ where: { userId: user.id } })
  setTime(new Date(december.getTime() + 32 * DAY))
  await offerAll()
  expect(await reports()).toHaveLength(1)
})

test('missed months are sent later, and a worker that failed halfway skips none', async () => {
  const { tenant, reports } = await filled()
  await publish(tenant)
  await wants(tenant, 'reader@customer.example')
  setTime(new Date('2027-02-02T12:00:00Z'))
  // The transaction fails after the month was claimed.
  const broken = {
    ...system,
    log: { ...system.log, error: () => {} },
    db: new Proxy(prisma, {
      get(target, name) {
        if (name !== '$transaction') return Reflect.get(target, name)
        return (work: (tx: object) => Promise<unknown>, options: object) =>
          prisma.$transaction(async (tx) => {
            await work(tx)
            throw new Error('It was killed.')
          }, options)
      },
    }),
  }
  await createReports(broken)
  expect(await reports()).toEqual([])
  await offerAll()
  expect(await reports()).toEqual([
    'reader@customer.example 2026-11',
    'reader@customer.example 2026-12',
    'reader@customer.example 2027-01',
  ])
  await offerAll()
  expect(await reports()).toHaveLength(3)
})

test('a subscriber who joins after a month gets the next one', async () => {
  const { tenant, reports } = await filled()
  await publish(tenant)
  setTime(new Date(december.getTime() + DAY))
  await offerAll()
  await wants(tenant, 'late@customer.example')
  await offerAll()
  expect(await reports()).toEqual([])
  setTime(new Date(december.getTime() + 32 * DAY))
  await offerAll()
  expect(await reports()).toEqual(['late@customer.example 2026-12'])
})

test('an event of an earlier version, with the month in place of an update, announces the same report', async () => {
  const { tenant } = await filled()
  await publish(tenant)
  await wants(tenant, 'reader@customer.example')
  setTime(new Date(december.getTime() + 6 * HOUR))
  await offerAll()
  const event = await prisma.event.findFirstOrThrow({ where: { organizationId: tenant.id, kind: 'REPORT_CREATED' } })
  const earlier = { ...event, reportMonth: null, updateId: event.reportMonth }
  const notification = await buildNotification(prisma, event)
  expect(notification).toMatchObject({ payload: { title: '2026-11' } })
  expect(await buildNotification(prisma, earlier)).toEqual(notification)
})
