// @slow
import { afterEach, expect, test } from 'vitest'
import { HOUR } from '../../../src/core/time.ts'
import { earliestOf } from '../../../src/database/lease/agenda.ts'
import { createFairClaim } from '../../../src/database/lease/fair-claim.ts'
import { Prisma } from '../../../src/generated/prisma/client.ts'
import { subscriberThreads } from '../../../src/notification/delivery/subscriber-deliveries.ts'
import { LEASE } from '../../../src/notification/queue/lease.ts'
import { isFirst, postponeBlocked } from '../../../src/notification/queue/thread.ts'
import { testDatabase } from '../../support/database.ts'
import { type Plan, planOf, rowsOf } from '../../support/plan.ts'
import { notifiedIn } from '../setup.ts'

const database = await testDatabase()
const { prisma, pool } = database
const notified = notifiedIn(database)
afterEach(() => prisma.delivery.deleteMany())

/**
 * The same client, which explains each of its raw statements first.
 * @param without as for `planOf`.
 */
function explaining(plans: Plan[], without: readonly string[] = []): typeof prisma {
  const $queryRaw = async (strings: TemplateStringsArray, ...parts: unknown[]) => {
    const { text, values } = Prisma.sql(strings, ...parts)
    plans.push(...(await planOf(pool, text, values, without)))
    return prisma.$queryRaw(strings, ...parts)
  }
  return new Proxy(prisma, { get: (target, name) => (name === '$queryRaw' ? $queryRaw : Reflect.get(target, name)) })
}

/** Inserts due deliveries of one subscriber, as many to each subject. */
async function backlog(count: number, perSubject: number): Promise<string> {
  const tenant = await notified.tenant()
  const subscriber = await notified.subscriber(tenant, { webhook: 'https://slow.example/hook' })
  await pool.query(
    `INSERT INTO "Delivery" (id, "organizationId", "subscriberId", channel, seq, "subjectId", destination, "dueAt", "createdAt")
     SELECT 'dlv_' || $2 || each, $1, $2, 'WEBHOOK', each, 'subject' || (each % ($3::int / $4::int)), 'slow.example', $5::timestamptz - interval '1 hour', $5
     FROM generate_series(1, $3::int) AS each`,
    [tenant.id, subscriber.id, count, perSubject, notified.now()],
  )
  return tenant.id
}

test('a claim reads few rows of a flood by an index, whichever of them may be sent', async () => {
  const blocked = await backlog(10_000, 10_000)
  const flood = await backlog(10_000, 1)
  const few = await backlog(3, 1)
  await pool.query('ANALYZE "Delivery"')
  const plans: Plan[] = []
  const fair = createFairClaim({ db: explaining(plans), now: notified.now }, { table: 'Delivery', dueColumn: 'dueAt' })
  // The first delivery of a subject is being sent, so that the others must wait.
  await prisma.delivery.updateMany({ where: { organizationId: blocked, seq: 1 }, data: { dueAt: null } })
  const { taken } = await fair.claim({ where: isFirst(subscriberThreads), limit: 100, leaseMs: 60_000, full: [] })
  const owners = await prisma.delivery.groupBy({
    by: ['organizationId'],
    where: { id: { in: taken.map(({ id }) => id) } },
    _count: true,
  })
  expect(Object.fromEntries(owners.map(({ organizationId, _count }) => [organizationId, _count]))).toEqual({
    [few]: 3,
    [flood]: 67,
  })
  const scans = plans.filter((node) => node['Relation Name'] === 'Delivery' && /Scan/.test(node['Node Type']))
  expect(scans.length).toBeGreaterThan(4)
  expect(scans.filter((node) => node['Index Name'] === undefined)).toEqual([])
  expect(scans.map(rowsOf).reduce((sum, rows) => sum + rows)).toBeLessThan(6000)
})

test('deliveries that came after an earlier one was postponed are due with it, unless it is being sent', async () => {
  const { now } = notified
  const [waiting, sending] = [await backlog(5, 5), await backlog(5, 5)]
  const later = new Date(now().getTime() + HOUR)
  const leased = new Date(now().getTime() + LEASE)
  const first = (organizationId: string, dueAt: Date) =>
    prisma.delivery.updateMany({ where: { organizationId, seq: 1 }, data: { dueAt } })
  await first(waiting, later)
  await first(sending, leased)
  await postponeBlocked({ db: prisma, now }, subscriberThreads)
  const dueOf = async (organizationId: string) =>
    (await prisma.delivery.findMany({ where: { organizationId }, orderBy: { seq: 'asc' } })).map(({ dueAt }) => dueAt)
  const due = new Date(now().getTime() - HOUR)
  expect(await dueOf(waiting)).toEqual(Array(5).fill(later))
  expect(await dueOf(sending)).toEqual([leased, due, due, due, due])
})

test.each(['Delivery', 'AlertDelivery', 'PushDelivery'])(
  'the next due row of %s is read from an index',
  async (table) => {
    const plans: Plan[] = []
    await explaining(plans, ['seqscan', 'bitmapscan', 'sort']).$queryRaw`SELECT (${earliestOf(table)}) AS at`
    const scans = plans.filter((node) => node['Relation Name'] === table)
    expect(scans.map((node) => node['Index Name'])).toEqual([`${table}_dueAt_idx`])
    expect(scans.map(rowsOf).reduce((sum, rows) => sum + rows)).toBeLessThanOrEqual(1)
  },
)
