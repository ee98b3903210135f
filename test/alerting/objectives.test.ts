// @slow
import { describe, expect, test } from 'vitest'
import { watchId } from '../../src/monitoring/monitor/watches.ts'
import { createObjective } from '../../src/monitoring/objective/objective.ts'
import { runDueObjectives } from '../../src/monitoring/objective/objective-job.ts'
import { scheduleMaintenance } from '../../src/status/maintenance/maintenance.ts'
import { runDueMaintenance } from '../../src/status/maintenance/maintenance-job.ts'
import { deleteService } from '../../src/status/service/service.ts'
import type { Tenant } from '../status/setup.ts'
import { testDatabase } from '../support/database.ts'
import { alertedWithReceiver } from './setup.ts'

const database = await testDatabase()
const { prisma } = database
const { receiver, alerted } = await alertedWithReceiver(database)

const DAY_MINUTES = 24 * 60
const hook = { webhook: { url: 'https://hooks.example.com/alerts' } }
const sent = () => receiver.received.map(({ body }) => JSON.parse(body))

/** A service that was up for four days, with an objective, and a channel that gets only alerts about its error budget. */
async function watched() {
  const tenant = await alerted.tenant()
  const [serviceId = ''] = await tenant.services('Shop')
  const monitor = await alerted.monitor(tenant, 'Front page', { serviceId })
  await alerted.setState(tenant, [monitor], 'UP')
  const objective = await createObjective(alerted.own(tenant), { serviceId, target: 99.9, windowDays: 30 })
  await alerted.channel(tenant, { ...hook, when: ['BUDGET_BURNING', 'BUDGET_RECOVERED'] })
  const watch = { id: watchId(monitor.id, 'local'), monitorId: monitor.id, region: 'local' }
  await prisma.watch.create({ data: { ...watch, state: 'UP', stateSince: alerted.system.now() } })
  alerted.time += 4 * DAY_MINUTES
  return { tenant, serviceId, monitor, objective }
}

/** Evaluates the objectives each minute, as the worker does, with a monitor that reports. */
async function minutes(tenant: Tenant, monitorId: string, count: number) {
  for (let minute = 0; minute < count; minute++) {
    alerted.time += 1
    await prisma.watch.updateMany({ where: { monitorId }, data: { lastKnownAt: alerted.system.now() } })
    await runDueObjectives(alerted.system)
    await runDueMaintenance(alerted.system)
    await alerted.run(tenant)
  }
}

describe('an error budget that burns too fast', () => {
  test('is reported once when the problem begins and once when it ends', async () => {
    const { tenant, monitor, objective } = await watched()
    await minutes(tenant, monitor.id, 2)
    await alerted.setState(tenant, [monitor], 'DOWN', 'Refused')
    await minutes(tenant, monitor.id, 2)
    await alerted.setState(tenant, [monitor], 'UP')
    await minutes(tenant, monitor.id, 15)
    expect(sent().map(({ type }) => type)).toEqual(['objective.burning', 'objective.recovered'])
    expect(sent()[0].data).toMatchObject({
      objective: { id: objective.id, name: 'Shop, 99.9%' },
      message: 'The error budget is used up too fast: fast, as seen over an hour.',
      acknowledge_url: expect.stringContaining('/alerts/'),
    })
  })

  test('is silent during maintenance', async () => {
    const { tenant, serviceId, monitor } = await watched()
    const startsAt = alerted.system.now()
    const endsAt = new Date(+startsAt + 3_600_000)
    await scheduleMaintenance(alerted.own(tenant), {
      ...{ title: 'New disks', message: 'Short interruptions.', serviceIds: [serviceId], startsAt, endsAt },
    })
    await minutes(tenant, monitor.id, 1)
    await alerted.setState(tenant, [monitor], 'DOWN', 'Refused')
    await minutes(tenant, monitor.id, 20)
    await alerted.setState(tenant, [monitor], 'UP')
    await minutes(tenant, monitor.id, 60)
    expect(sent()).toEqual([])
  })

  test('closes its alert when its objective is deleted with the service', async () => {
    const { tenant, serviceId, monitor, objective } = await watched()
    await alerted.setState(tenant, [monitor], 'DOWN', 'Refused')
    await minutes(tenant, monitor.id, 5)
    const find = () => prisma.alert.findFirst({ where: { subjectId: objective.id } })
    expect(await find()).toMatchObject({ change: 'BUDGET_BURNING', endedAt: null })
    await deleteService(alerted.own(tenant), serviceId)
    await alerted.run(tenant, 1)
    expect((await find())?.endedAt).not.toBeNull()
  })
})
