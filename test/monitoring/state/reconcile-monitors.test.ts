// @slow
import { describe, expect, inject, test } from 'vitest'
import { openDatabase } from '../../../src/database/client.ts'
import { watchId } from '../../../src/monitoring/monitor/watches.ts'
import { reconcileMonitors } from '../../../src/monitoring/state/reconcile-monitors.ts'
import { scheduleMaintenance, updateMaintenance } from '../../../src/status/maintenance/maintenance.ts'
import { readPageState } from '../../../src/status/page/page-state.ts'
import { tenantsOf } from '../../status/setup.ts'
import { testContext } from '../../support/context.ts'
import { serverDatabase, serverUrl, testDatabase } from '../../support/database.ts'
import { silent } from '../../support/scratch.ts'
import { watchingIn } from '../workers.ts'

const database = await testDatabase()
const { prisma } = database
const tenant = tenantsOf(prisma)
const watching = watchingIn(database)
const { at, finds } = watching

/** Creates a tenant with one service, and a monitor of it that was up in the first second. */
async function withMonitor(given: Parameters<typeof watching.monitor>[1] = {}) {
  await prisma.monitor.deleteMany()
  watching.time = 0
  const acme = await tenant('TEAM')
  const [serviceId = ''] = await acme.services('Shop')
  const worker = watching.worker()
  await worker.scheduler.poll()
  const { id } = await watching.monitor(acme.id, { serviceId, ...given })
  await watching.pass(1, [worker])
  return {
    ...acme,
    organizationId: acme.id,
    serviceId,
    id,
    worker,
    monitor: () => prisma.monitor.findUniqueOrThrow({ where: { id } }),
  }
}

test('a state starts at the first result in that state, and has its message', async () => {
  const { id, worker, monitor, events } = await withMonitor()
  expect(await watching.intervals(id)).toEqual(['PENDING 0–1', 'UP 1–'])
  await watching.pass(120, [worker])
  finds.set(id, 'DOWN')
  await watching.pass(120, [worker])
  const { state, stateSince } = await monitor()
  expect(state).toBe('DOWN')
  const [first] = await prisma.probeResult.findMany({
    where: { monitorId: id, outcome: 'DOWN' },
    orderBy: { at: 'asc' },
  })
  expect(stateSince).toEqual(first?.at)
  const open = await prisma.monitorInterval.findFirst({ where: { monitorId: id, endedAt: null } })
  expect(open).toMatchObject({ state: 'DOWN', startedAt: first?.at, cause: 'It is DOWN.' })
  finds.delete(id)
  await watching.pass(120, [worker])
  expect((await watching.intervals(id)).map((words) => words.split(' ')[0])).toEqual(['PENDING', 'UP', 'DOWN', 'UP'])
  expect((await events()).map(({ kind, actorKind }) => [kind, actorKind]).slice(1)).toEqual(
    [
      'MONITOR_STATE_CHANGED',
      'SERVICE_KNOWN',
      'MONITOR_STATE_CHANGED',
      'INCIDENT_CREATED',
      'SERVICE_STATUS_CHANGED',
      'MONITOR_STATE_CHANGED',
      'INCIDENT_UPDATE_POSTED',
      'SERVICE_STATUS_CHANGED',
    ].map((kind) => [kind, 'SYSTEM']),
  )
})

test('a monitor with three regions is DOWN when two of them find it DOWN', async () => {
  const { id, worker, monitor } = await withMonitor()
  const workers = [worker, watching.worker({ region: 'mars' }), watching.worker({ region: 'venus' })]
  await watching.pass(120, workers)
  expect(await prisma.watch.count({ where: { monitorId: id } })).toBe(3)
  finds.set(watchId(id, 'mars'), 'DOWN')
  await watching.pass(180, workers)
  expect(await prisma.watch.findUnique({ where: { id: watchId(id, 'mars') } })).toMatchObject({ state: 'DOWN' })
  expect(await monitor()).toMatchObject({ state: 'UP' })
  finds.set(watchId(id, 'local'), 'DOWN')
  await watching.pass(180, workers)
  const local = await prisma.watch.findUniqueOrThrow({ where: { id: watchId(id, 'local') } })
  expect(await monitor()).toMatchObject({ state: 'DOWN', stateSince: local.stateSince })
  finds.clear()
  await watching.pass(90, workers)
  expect(await monitor()).toMatchObject({ state: 'UP' })
  expect((await watching.intervals(id)).map((words) => words.split(' ')[0])).toEqual(['PENDING', 'UP', 'DOWN', 'UP'])
})

test('a monitor that often fails, but never often enough in a row, is DEGRADED because it is unstable', async () => {
  const { id, worker, monitor, organizationId } = await withMonitor()
  for (let check = 0; check < 6; check += 1) {
    finds.set(id, 'DOWN')
    await watching.pass(60, [worker], 60)
    finds.delete(id)
    await watching.pass(60, [worker], 60)
  }
  expect(await monitor()).toMatchObject({ state: 'DEGRADED' })
  const open = await prisma.monitorInterval.findFirst({ where: { monitorId: id, endedAt: null } })
  expect(open?.cause).toMatch(/^Unstable: \d+ of \d+ probes failed in the last hour\.$/)
  expect((await readPageState(prisma, organizationId, watching.now())).services[0]?.status).toBe('DEGRADED_PERFORMANCE')
  expect((await watching.intervals(id)).some((words) => words.startsWith('DOWN'))).toBe(false)
  expect(await prisma.incident.count({ where: { organizationId } })).toBe(0)
})

test('a monitor with UNKNOWN results keeps its state', async () => {
  const { id, worker } = await withMonitor()
  finds.set(id, 'UNKNOWN')
  await watching.pass(300, [worker], 30)
  finds.delete(id)
  expect(await watching.intervals(id)).toEqual(['PENDING 0–1', 'UP 1–'])
})

test('a monitor that was deleted or paused in the meantime is not changed', async () => {
  const { id, monitor } = await withMonitor()
  const ctx = testContext(prisma, { now: watching.now })
  await prisma.watch.updateMany({ where: { monitorId: id }, data: { state: 'DOWN' } })
  const { organizationId } = await monitor()
  await prisma.monitor.update({ where: { id }, data: { pausedBy: 'OWNER', state: 'PAUSED' } })
  await reconcileMonitors(ctx, organizationId, [id])
  expect(await monitor()).toMatchObject({ state: 'PAUSED' })
  await prisma.monitor.delete({ where: { id } })
  await reconcileMonitors(ctx, organizationId, [id])
})

test('an outage opens no incident during maintenance, but the next result after it does', async () => {
  const { ctx, as, id, serviceId, worker, news, monitor } = await withMonitor()
  const incidentNews = async () => (await news()).filter((line) => line.startsWith('INCIDENT'))
  const times = { startsAt: at(1), endsAt: at(7200) }
  const planned = { title: 'Move', message: 'We move.', serviceIds: [serviceId], ...times }
  const { id: maintenanceId } = await scheduleMaintenance(ctx, { ...planned, startsAt: at(60) })
  await updateMaintenance(as('WRITE'), { id: maintenanceId, status: 'IN_PROGRESS' })
  finds.set(id, 'DOWN')
  await watching.pass(180, [worker], 10)
  expect(await monitor()).toMatchObject({ state: 'DOWN' })
  const { organizationId } = await monitor()
  expect(await incidentNews()).toEqual([])
  expect(await readPageState(prisma, organizationId, watching.now())).toMatchObject({
    status: { indicator: 'MAINTENANCE' },
    services: [{ status: 'UNDER_MAINTENANCE' }],
  })
  await updateMaintenance(as('WRITE'), { id: maintenanceId, status: 'COMPLETED' })
  await watching.pass(90, [worker], 10)
  finds.delete(id)
  expect(await incidentNews()).toEqual(['INCIDENT_CREATED Shop: Website is down'])
})

describe('two workers that reconcile the same monitor at once', () => {
  test('change it once, on this database', async () => {
    await raced(database)
  })

  test.skipIf(serverUrl === undefined)('change it once, with separate connection pools on a server', async () => {
    const { url, remove } = await serverDatabase(serverUrl ?? '', inject('databaseTemplate'))
    const open = () => openDatabase({ dataDir: '', databaseUrl: url, log: silent })
    const [one, other] = await Promise.all([open(), open()])
    await raced(one, other)
    await Promise.all([one.close(), other.close()])
    await remove()
  })

  async function raced(one: typeof database, other = one): Promise<void> {
    const here = watchingIn(one)
    const acme = await tenantsOf(one.prisma)('TEAM')
    const [serviceId = ''] = await acme.services('Shop')
    const { id, organizationId } = await here.monitor(acme.id, { serviceId })
    const reported = { monitorId: id, stateSince: here.at(5), lastKnownAt: here.at(5) }
    here.time = 10
    const contexts = [one, other].map(({ prisma: db }) => testContext(db, { now: here.now }))
    for (const [scheduler, state] of (['UP', 'DOWN', 'UP', 'DOWN', 'UP'] as const).entries()) {
      const data = { ...reported, state, stateSince: here.at(5 + scheduler) }
      const watch = { id: watchId(id, 'local'), region: 'local', dueAt: here.at(9) }
      await one.prisma.watch.upsert({ where: { id: watch.id }, create: { ...watch, ...data }, update: data })
      await Promise.all([...contexts, ...contexts].map((ctx) => reconcileMonitors(ctx, organizationId, [id])))
    }
    expect(await here.intervals(id)).toEqual(['PENDING 0–5', 'UP 5–6', 'DOWN 6–7', 'UP 7–8', 'DOWN 8–9', 'UP 9–'])
    const kinds = (await acme.events()).map(({ kind }) => kind).filter((kind) => kind.startsWith('INCIDENT'))
    const updated = 'INCIDENT_UPDATE_POSTED'
    expect(kinds).toEqual(['INCIDENT_CREATED', updated, updated, updated])
    expect(await one.prisma.incident.findMany({ where: { organizationId } })).toMatchObject([{ status: 'RESOLVED' }])
  }
})
