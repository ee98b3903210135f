import { describe, expect, test } from 'vitest'
import { updateOrganization } from '../../../src/account/organization/organization.ts'
import { DAY, HOUR, MINUTE } from '../../../src/core/time.ts'
import type { ServiceStatus, UptimeSource } from '../../../src/generated/prisma/enums.ts'
import {
  readServiceDays,
  readServiceUptimes,
  reportedDays,
  reportedStretches,
  uptimeSourceOf,
} from '../../../src/monitoring/uptime/service-uptime.ts'
import { uptimePercent } from '../../../src/monitoring/uptime/uptime.ts'
import { deleteIncident } from '../../../src/status/incident/incident-edits.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import {
  deleteIncidentUpdate,
  editIncidentUpdate,
  postIncidentUpdate,
} from '../../../src/status/incident/incident-updates.ts'
import type { ImpairedStatus } from '../../../src/status/service/service-status.ts'
import { type Tenant, tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { writeMonitor } from '../histories.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)

describe('the source of the uptime of a service', () => {
  test.each<[monitored: boolean, chosen: UptimeSource, source: UptimeSource]>([
    [true, 'MONITORS', 'MONITORS'],
    [true, 'INCIDENTS', 'INCIDENTS'],
    [false, 'MONITORS', 'INCIDENTS'],
    [false, 'INCIDENTS', 'INCIDENTS'],
  ])('with monitors: %s, configured: %s, is %s', (monitored, chosen, source) => {
    expect(uptimeSourceOf(monitored, chosen)).toBe(source)
  })
})

describe('the stretches of a service based on incidents', () => {
  const hour = (hours: number) => at(hours * HOUR)
  const span = { from: hour(0), to: hour(10) }
  const said = (...effects: readonly (readonly [number, number, ImpairedStatus])[]) => [
    { effects: effects.map(([from, to, status]) => ({ from: hour(from), to: hour(to), status })) },
  ]
  const stretchesOf = (incidents: ReturnType<typeof said>, knownSince = 0, maintenance: [number, number][] = []) =>
    reportedStretches(
      {
        incidents,
        knownSince: hour(knownSince),
        maintenance: maintenance.map(([from, to]) => ({ from: hour(from), to: hour(to) })),
      },
      span,
    ).map(({ from, to, condition }) => `${(+from - +noon) / HOUR}-${(+to - +noon) / HOUR} ${condition}`)

  test.each<[what: string, ...args: Parameters<typeof stretchesOf>, expected: string[]]>([
    ['no incident', [], 0, [], ['0-10 up']],
    ['a major outage', said([2, 3, 'MAJOR_OUTAGE']), 0, [], ['0-2 up', '2-3 down', '3-10 up']],
    ['a partial outage', said([2, 3, 'PARTIAL_OUTAGE']), 0, [], ['0-2 up', '2-3 down', '3-10 up']],
    ['degraded performance', said([2, 3, 'DEGRADED_PERFORMANCE']), 0, [], ['0-2 up', '2-3 degraded', '3-10 up']],
    [
      'two at once',
      [...said([2, 5, 'DEGRADED_PERFORMANCE']), ...said([3, 4, 'MAJOR_OUTAGE'])],
      0,
      [],
      ['0-2 up', '2-3 degraded', '3-4 down', '4-5 degraded', '5-10 up'],
    ],
    [
      'maintenance during the outage',
      said([2, 5, 'MAJOR_OUTAGE']),
      0,
      [[3, 4]],
      ['0-2 up', '2-3 down', '3-4 maintenance', '4-5 down', '5-10 up'],
    ],
    [
      'an incident that started before the service existed',
      said([2, 5, 'MAJOR_OUTAGE']),
      4,
      [],
      ['0-4 unknown', '4-5 down', '5-10 up'],
    ],
    ['a service that does not exist yet', [], 12, [], ['0-10 unknown']],
    ['an incident longer than the span', said([-5, 20, 'MAJOR_OUTAGE']), 0, [], ['0-10 down']],
  ])('%s', (_, incidents, knownSince, maintenance, expected) => {
    expect(stretchesOf(incidents, knownSince, maintenance)).toEqual(expected)
  })

  test('are tallied to the millisecond', () => {
    const days = [0, 1].map((n) => ({ day: at(n * DAY), from: at(n * DAY), to: at((n + 1) * DAY) }))
    const effects = [{ from: at(DAY - 1), to: at(DAY + 1), status: 'PARTIAL_OUTAGE' as const }]
    const found = reportedDays({ incidents: [{ effects }], maintenance: [], knownSince: noon }, days)
    expect(found.map(({ tally }) => [tally.up, tally.down])).toEqual([
      [DAY - 1, 1],
      [DAY - 1, 1],
    ])
    expect(found.map(({ tally }) => uptimePercent(tally))).toEqual([99.999, 99.999])
  })
})

describe('the days of services', () => {
  const reported = { title: 'Disks', impact: 'MAJOR', message: 'We look.', status: 'INVESTIGATING' } as const
  const settingsOf = ({ id }: Tenant) => prisma.organization.findUniqueOrThrow({ where: { id } })
  const today = async (acme: Tenant, id: string) =>
    (await readServiceDays(prisma, await settingsOf(acme), [id], 2, noon)).get(id)?.at(-1)
  /** Creates a service without monitors that has had an outage since 10:00, two hours before now. */
  async function out(status: ServiceStatus = 'PARTIAL_OUTAGE') {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    await prisma.service.update({ where: { id: api }, data: { createdAt: at(-2 * DAY) } })
    const services = [{ serviceId: api, status }]
    const { id } = await createIncident(acme.later(-2 * HOUR), { ...reported, services })
    return { acme, api, id }
  }
  const down = (milliseconds: number) => ({ source: 'INCIDENTS', tally: { down: milliseconds } })

  test('count incidents if a service has no monitors', async () => {
    const { acme, api, id } = await out()
    expect(await today(acme, api)).toMatchObject({ ...down(2 * HOUR), incidentStatus: 'PARTIAL_OUTAGE' })
    await postIncidentUpdate(acme.later(-HOUR), { incidentId: id, status: 'RESOLVED', message: 'Well.' })
    expect(await today(acme, api)).toMatchObject({ ...down(HOUR), incidentStatus: 'PARTIAL_OUTAGE' })
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

  test('count the results of monitors, unless the organization counts incidents; both return the incident status', async () => {
    const { acme, api } = await out()
    const states = [
      ['UP', at(-2 * DAY)],
      ['DOWN', at(-MINUTE)],
    ] as const
    await writeMonitor(prisma, { organizationId: acme.id, serviceId: api, states, lastKnownAt: noon })
    const measured = { source: 'MONITORS', tally: { down: MINUTE }, incidentStatus: 'PARTIAL_OUTAGE' }
    expect(await today(acme, api)).toMatchObject(measured)
    await updateOrganization(acme.ctx, { uptimeSource: 'INCIDENTS' })
    expect(await today(acme, api)).toMatchObject(down(2 * HOUR))
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
