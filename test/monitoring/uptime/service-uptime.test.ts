import { describe, expect, test } from 'vitest'
import { updateOrganization } from '../../../src/account/organization/organization.ts'
import { DAY, HOUR, MINUTE } from '../../../src/core/time.ts'
import type { ServiceStatus } from '../../../src/generated/prisma/enums.ts'
import { readServiceDays, readServiceUptimes } from '../../../src/monitoring/uptime/service-uptime.ts'
import { closeDays } from '../../../src/monitoring/uptime/uptime-days.ts'
import { deleteIncident } from '../../../src/status/incident/incident-edits.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import {
  deleteIncidentUpdate,
  editIncidentUpdate,
  postIncidentUpdate,
} from '../../../src/status/incident/incident-updates.ts'
import { type Tenant, tenantsOf } from '../../status/setup.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { writeMonitor } from '../histories.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)

describe('the days of services', () => {
  const reported = { title: 'Disks', impact: 'MAJOR', message: 'We look.', status: 'INVESTIGATING' } as const
  const settingsOf = ({ id }: Tenant) => prisma.organization.findUniqueOrThrow({ where: { id } })
  const today = async (acme: Tenant, id: string) =>
    (await readServiceDays(prisma, await settingsOf(acme), [id], 2, noon)).get(id)?.at(-1)
  /** Creates a service without monitors that has had an outage since 10:00, two hours before now. */
  async function out(status: ServiceStatus = 'MAJOR_OUTAGE') {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    await prisma.service.update({ where: { id: api }, data: { createdAt: at(-2 * DAY), statedAt: at(-2 * DAY) } })
    const services = [{ serviceId: api, status }]
    const { id } = await createIncident(acme.later(-2 * HOUR), { ...reported, services })
    return { acme, api, id }
  }
  const down = (milliseconds: number) => ({ source: 'INCIDENTS', tally: { down: milliseconds } })

  test('count incidents if a service has no monitors', async () => {
    const { acme, api, id } = await out()
    expect(await today(acme, api)).toMatchObject({ ...down(2 * HOUR), incidentStatus: 'MAJOR_OUTAGE' })
    await postIncidentUpdate(acme.later(-HOUR), { incidentId: id, status: 'RESOLVED', message: 'Well.' })
    expect(await today(acme, api)).toMatchObject({ ...down(HOUR), incidentStatus: 'MAJOR_OUTAGE' })
    const settings = await settingsOf(acme)
    const [uptime] = await readServiceUptimes(prisma, settings, [{ id: api, from: at(-DAY), to: noon }], noon)
    expect(uptime).toMatchObject({ source: 'INCIDENTS', percent: 95.833, coverage: 100 })
  })

  test('follow edited and deleted updates and incidents', async () => {
    const { acme, api, id } = await out()
    const services = [{ serviceId: api, status: 'OPERATIONAL' }]
    const update = { incidentId: id, status: 'MONITORING', message: 'It recovers.', services }
    const { id: updateId } = await postIncidentUpdate(acme.later(-HOUR), update)
    expect(await today(acme, api)).toMatchObject(down(HOUR))
    await editIncidentUpdate(acme.ctx, { id: updateId, createdAt: at(-90 * MINUTE) })
    expect(await today(acme, api)).toMatchObject(down(30 * MINUTE))
    await deleteIncidentUpdate(acme.ctx, updateId)
    expect(await today(acme, api)).toMatchObject(down(2 * HOUR))
    await deleteIncident(acme.ctx, id)
    expect(await today(acme, api)).toMatchObject({ ...down(0), incidentStatus: null })
  })

  test('count a past incident that was added afterwards', async () => {
    const { acme, api, id } = await out('DEGRADED_PERFORMANCE')
    await deleteIncident(acme.ctx, id)
    const services = [{ serviceId: api, status: 'MAJOR_OUTAGE' }]
    const times = { startedAt: at(-6 * HOUR), resolvedAt: at(-5 * HOUR) }
    await createIncident(acme.ctx, { ...reported, status: 'RESOLVED', services, ...times })
    expect(await today(acme, api)).toMatchObject({ ...down(HOUR), incidentStatus: 'MAJOR_OUTAGE' })
  })

  test('count the worse of monitors and incidents, unless the organization counts one of them; all return the incident status', async () => {
    const { acme, api } = await out()
    const states = [
      ['UP', at(-2 * DAY)],
      ['DOWN', at(-MINUTE)],
    ] as const
    await writeMonitor(prisma, { organizationId: acme.id, serviceId: api, states, lastKnownAt: noon })
    const both = { source: 'MONITORS_AND_INCIDENTS', tally: { up: 10 * HOUR, down: 2 * HOUR } }
    expect(await today(acme, api)).toMatchObject({ ...both, incidentStatus: 'MAJOR_OUTAGE' })
    await updateOrganization(acme.ctx, { uptimeSource: 'MONITORS' })
    const measured = { source: 'MONITORS', tally: { down: MINUTE }, incidentStatus: 'MAJOR_OUTAGE' }
    expect(await today(acme, api)).toMatchObject(measured)
    await updateOrganization(acme.ctx, { uptimeSource: 'INCIDENTS' })
    expect(await today(acme, api)).toMatchObject(down(2 * HOUR))
  })

  test('do not count an incident that a monitor opened in addition to the monitor', async () => {
    const { acme, api, id } = await out()
    const states = [
      ['UP', at(-2 * DAY)],
      ['DOWN', at(-2 * HOUR)],
      ['UP', at(-HOUR)],
    ] as const
    await writeMonitor(prisma, { organizationId: acme.id, serviceId: api, states, lastKnownAt: noon })
    await prisma.incident.update({ where: { id }, data: { automatic: true } })
    expect(await today(acme, api)).toMatchObject({ tally: { down: HOUR }, incidentStatus: 'MAJOR_OUTAGE' })
    await prisma.incident.update({ where: { id }, data: { automatic: false } })
    expect(await today(acme, api)).toMatchObject({ tally: { down: 2 * HOUR } })
  })

  test('follow a declaration on a closed day, and its correction', async () => {
    const { acme, api, id } = await out()
    await deleteIncident(acme.ctx, id)
    const states = [['UP', at(-3 * DAY)]] as const
    await writeMonitor(prisma, { organizationId: acme.id, serviceId: api, states, lastKnownAt: noon })
    await closeDays(testContext(prisma, { now: () => noon }))
    expect(await prisma.uptimeDay.count({ where: { subjectId: api } })).toBeGreaterThan(0)
    const yesterday = async () =>
      (await readServiceDays(prisma, await settingsOf(acme), [api], 3, noon)).get(api)?.at(-2)?.tally
    const whole = { up: DAY, degraded: 0, partial: 0, down: 0, unknown: 0, maintenance: 0 }
    expect(await yesterday()).toEqual(whole)
    const services = [{ serviceId: api, status: 'PARTIAL_OUTAGE' }]
    const times = { startedAt: at(-30 * HOUR), resolvedAt: at(-27 * HOUR) }
    const past = await createIncident(acme.ctx, { ...reported, status: 'RESOLVED', services, ...times })
    expect(await yesterday()).toEqual({ ...whole, up: DAY - 3 * HOUR, partial: 3 * HOUR })
    await deleteIncident(acme.ctx, past.id)
    expect(await yesterday()).toEqual(whole)
  })

  test('are unknown before the service existed, and for services of other organizations', async () => {
    const { acme, api } = await out()
    const [other = ''] = await acme.services('Other')
    const days = await readServiceDays(prisma, await settingsOf(acme), [api, other], 2, noon)
    expect(days.get(other)?.map(({ tally }) => [tally.up, tally.down])).toEqual([
      [0, 0],
      [0, 0],
    ])
    const stranger = await tenant()
    expect((await readServiceDays(prisma, await settingsOf(stranger), [api], 2, noon)).size).toBe(0)
  })
})
