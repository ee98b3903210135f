// @slow
import { expect, test } from 'vitest'
import { standInForWorkers } from '../../src/alerting/standby.ts'
import { reconcileStaleness } from '../../src/monitoring/state/staleness-job.ts'
import { createDispatcher } from '../../src/notification/delivery/dispatcher.ts'
import { seal } from '../notification/setup.ts'
import { testDatabase } from '../support/database.ts'
import { alertedWithReceiver, handleEvents } from './setup.ts'

const database = await testDatabase()
const { prisma, pool } = database
const { receiver, alerted } = await alertedWithReceiver(database)

const titles = () =>
  receiver.received.map(({ body }) => JSON.parse(body)).map(({ topic, title }) => `${topic}: ${title}`)

/** Runs the standby of a `web` instance for this many minutes. */
async function webRuns(minutes: number) {
  const dispatcher = createDispatcher(alerted.system, pool, handleEvents)
  const standby = { ctx: { ...alerted.system, seal }, dispatcher, workers: [alerted.alertWorker()] }
  const pauses = new Set<number>()
  for (const end = alerted.time + minutes; alerted.time < end; alerted.time += 0.25) {
    await reconcileStaleness(alerted.system)
    pauses.add(await standInForWorkers(standby))
  }
  return [...pauses]
}

test('when the last worker has died, a web instance sends and escalates the alert about the missing worker', async () => {
  const tenant = await alerted.tenant()
  const boss = await alerted.channel(tenant, { name: 'Boss', ntfy: { topic: 'boss' }, when: ['LISTED'] })
  const escalate = { channelId: boss.id, afterMinutes: 10 }
  await alerted.channel(tenant, { ntfy: { topic: 'team' }, when: ['WORKER_SILENT'], remindAfterMinutes: 15, escalate })
  const monitor = await alerted.monitor(tenant, 'API')
  const lives = async () => {
    const lastSeenAt = alerted.now()
    const where = { name: 'local' }
    await prisma.region.upsert({ where, create: { ...where, lastSeenAt }, update: { lastSeenAt } })
    await prisma.watch.updateMany({ where: { monitorId: monitor.id }, data: { lastKnownAt: lastSeenAt } })
  }
  await prisma.watch.create({
    data: {
      ...{ id: `${monitor.id}@local`, monitorId: monitor.id, region: 'local', state: 'UP' },
      ...{ dueAt: alerted.now(), stateSince: alerted.now(), lastKnownAt: alerted.now() },
    },
  })
  await alerted.setState(tenant, [monitor], 'UP')
  await lives()
  // It does nothing while a worker runs.
  expect(await webRuns(0.5)).toEqual([30_000])
  await webRuns(20)
  expect(titles()).toEqual([
    'team: Not probed: API',
    'boss: Not acknowledged: not probed: API',
    'team: Still not probed: API',
  ])
  const sent = await prisma.alertDelivery.findMany({ where: { organizationId: tenant.id } })
  expect(sent.map(({ status }) => status)).toEqual(['DELIVERED', 'DELIVERED', 'DELIVERED'])
  // The web instance stops as soon as a worker is back.
  await lives()
  expect(await webRuns(0.5)).toEqual([30_000])
})

test('two web instances send an alert once', async () => {
  const tenant = await alerted.tenant()
  await alerted.channel(tenant, { ntfy: { topic: 'once' } })
  await alerted.setState(tenant, [await alerted.monitor(tenant, 'API')], 'DOWN')
  alerted.time += 5
  for (let each = 0; each < 6; each += 1) {
    await Promise.all([webRuns(0.25), webRuns(0.25)])
  }
  expect(titles().filter((title) => title.startsWith('once'))).toHaveLength(1)
})
