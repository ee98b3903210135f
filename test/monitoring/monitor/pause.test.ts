import { describe, expect, test } from 'vitest'
import { Forbidden, NotFound, TierLimitReached } from '../../../src/core/errors.ts'
import { MINUTE, SECOND } from '../../../src/core/time.ts'
import { change } from '../../../src/event-log/change.ts'
import type { Monitor } from '../../../src/generated/prisma/client.ts'
import { createMonitor } from '../../../src/monitoring/monitor/monitor.ts'
import { pauseMonitor, resumeMonitor } from '../../../src/monitoring/monitor/pause.ts'
import { joinIncident } from '../../../src/monitoring/state/incident.ts'
import { enterState } from '../../../src/monitoring/uptime/state-intervals.ts'
import { buildNotification } from '../../../src/notification/content/payload.ts'
import { noIds, tenantsOf } from '../../status/setup.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { samples, sealing } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
await prisma.region.create({ data: { name: 'local', lastSeenAt: noon } })
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const http = { name: 'API', http: samples.http }
const watchesOf = ({ id }: Monitor) => prisma.watch.findMany({ where: { monitorId: id } })
const statesOf = async ({ id }: Monitor) =>
  (await prisma.monitorInterval.findMany({ where: { monitorId: id }, orderBy: { startedAt: 'asc' } })).map(
    ({ state, startedAt }) => [state, startedAt],
  )

describe('a pause', () => {
  test('deletes the watches, resolves the incident, and appends an event', async () => {
    const acme = await tenant()
    const [serviceId = ''] = await acme.services('API')
    const monitor = await createMonitor(sealing(acme), { ...http, serviceId })
    await change(testContext(prisma), acme.id, async (tx) => {
      await enterState(tx, monitor, 'DOWN', noon)
      return [null, ...(await joinIncident(tx, monitor, { since: noon, cause: '' }))]
    })
    const paused = await pauseMonitor(acme.later(MINUTE), monitor.id)
    expect(paused).toMatchObject({ state: 'PAUSED', stateSince: at(MINUTE), pausedBy: 'OWNER', version: 2 })
    expect(await watchesOf(monitor)).toEqual([])
    expect(await statesOf(monitor)).toEqual([
      ['DOWN', noon],
      ['PAUSED', at(MINUTE)],
    ])
    expect((await acme.news()).slice(4)).toEqual([
      'MONITOR_PAUSED API',
      'INCIDENT_UPDATE_POSTED API is down',
      'SERVICE_STATUS_CHANGED API',
    ])
    // No region reports DEGRADED or UP anymore.
    const event = await prisma.event.findFirstOrThrow({ where: { organizationId: acme.id }, orderBy: { seq: 'desc' } })
    const { payload } = (await buildNotification(prisma, event)) ?? {}
    expect(payload).toMatchObject({ about: 'SERVICE', title: 'API', status: 'UNKNOWN' })
    expect(await pauseMonitor(acme.later(2 * MINUTE), monitor.id)).toEqual(paused)
    expect(await acme.news()).toHaveLength(7)
  })

  test('of a monitor that was paused by its tier makes it paused by its owner', async () => {
    const acme = await tenant()
    const { id } = await createMonitor(sealing(acme), http)
    await prisma.monitor.update({ where: { id }, data: { pausedBy: 'TIER', state: 'PAUSED' } })
    expect(await pauseMonitor(acme.ctx, id)).toMatchObject({ pausedBy: 'OWNER', state: 'PAUSED', stateSince: noon })
  })
})

describe('a resumed monitor', () => {
  test('has new watches and is PENDING', async () => {
    const acme = await tenant()
    const monitor = await createMonitor(sealing(acme), http)
    await pauseMonitor(acme.later(SECOND), monitor.id)
    const resumed = await resumeMonitor(acme.later(2 * SECOND), monitor.id)
    expect(resumed).toMatchObject({ state: 'PENDING', stateSince: at(2 * SECOND), pausedBy: null, version: 3 })
    expect(await watchesOf(monitor)).toMatchObject([{ region: 'local', state: 'PENDING', dueAt: at(2 * SECOND) }])
    expect(await resumeMonitor(acme.ctx, monitor.id)).toEqual(resumed)
    expect(await acme.news()).toEqual(['MONITOR_CREATED API', 'MONITOR_PAUSED API', 'MONITOR_RESUMED API'])
  })

  test('of kind heartbeat waits for its first heartbeat, or for the next one if it had one before', async () => {
    const acme = await tenant()
    const given = { name: 'Job', heartbeat: { graceSeconds: 60 }, intervalSeconds: 300 }
    const monitor = await createMonitor(sealing(acme), given)
    await pauseMonitor(acme.ctx, monitor.id)
    await resumeMonitor(acme.ctx, monitor.id)
    expect(await watchesOf(monitor)).toMatchObject([{ dueAt: null }])
    await enterState(testContext(prisma), monitor, 'UP', noon)
    await pauseMonitor(acme.later(SECOND), monitor.id)
    await resumeMonitor(acme.later(2 * SECOND), monitor.id)
    expect(await watchesOf(monitor)).toMatchObject([{ dueAt: at(362 * SECOND) }])
  })

  test('is refused when the tier allows no more running monitors', async () => {
    const acme = await tenant('PRO')
    const ids: string[] = []
    for (let count = 0; count < 6; count += 1) ids.push((await createMonitor(sealing(acme), http)).id)
    await pauseMonitor(acme.ctx, ids[5] ?? '')
    await prisma.organization.update({ where: { id: acme.id }, data: { tier: 'FREE' } })
    await expect(resumeMonitor(acme.ctx, ids[5] ?? '')).rejects.toMatchObject({
      constructor: TierLimitReached,
      limit: 5,
    })
    await pauseMonitor(acme.ctx, ids[0] ?? '')
    expect(await resumeMonitor(acme.ctx, ids[5] ?? '')).toMatchObject({ pausedBy: null })
  })
})

test('pausing and resuming require a key of the organization with scope WRITE', async () => {
  const acme = await tenant()
  const { id } = await createMonitor(sealing(acme), http)
  for (const verb of [pauseMonitor, resumeMonitor]) {
    await expect(verb(acme.as('READ'), id)).rejects.toThrow(Forbidden)
    await expect(verb((await tenant()).ctx, id)).rejects.toThrow(NotFound)
    for (const none of noIds('mon')) await expect(verb(acme.ctx, none)).rejects.toThrow(NotFound)
  }
})
