import { expect, test } from 'vitest'
import { createApiKey } from '../../src/account/api-key/api-key.ts'
import { updateOrganization } from '../../src/account/organization/organization.ts'
import { updatePageReports } from '../../src/account/page/page-reports.ts'
import { newId } from '../../src/core/id.ts'
import { DAY, MINUTE } from '../../src/core/time.ts'
import type { ServiceStatus } from '../../src/generated/prisma/enums.ts'
import { createObjective } from '../../src/monitoring/objective/objective.ts'
import { closeDays } from '../../src/monitoring/uptime/uptime-days.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../src/status/incident/incident-updates.ts'
import { writeMonitor } from '../monitoring/histories.ts'
import { tenantsOf } from '../status/setup.ts'
import { testApp } from '../support/app.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { post } from '../support/graphql-client.ts'

const database = await testDatabase()
const { prisma } = database
const tenant = tenantsOf(prisma)

/** The day of the history, and a time in it. */
const day = '2026-10-10'
const at = (time: string) => new Date(`${day}T${time}:00Z`)

/** A page whose API has a monitor and incidents, and whose shop has incidents alone. */
async function scripted() {
  const acme = await tenant('PRO')
  const [api = '', shop = ''] = await acme.services('API', 'Shop')
  const created = new Date('2026-10-01T00:00:00Z')
  await prisma.organization.update({ where: { id: acme.id }, data: { createdAt: created } })
  const since = { createdAt: created, statedAt: created }
  await prisma.service.updateMany({ where: { organizationId: acme.id }, data: since })
  await writeMonitor(prisma, {
    organizationId: acme.id,
    serviceId: api,
    states: [
      ['UP', created],
      ['DOWN', at('09:00')],
      ['UP', at('09:12')],
    ],
    gaps: [{ from: at('20:00'), to: at('21:00') }],
    lastKnownAt: noon,
  })
  const then = (time: string) => acme.later(+at(time) - +noon)
  const text = { title: 'Disks', impact: 'MAJOR', message: 'We look.' }
  const opens = (time: string, ...services: (readonly [string, ServiceStatus])[]) =>
    createIncident(then(time), {
      ...{ ...text, status: 'INVESTIGATING', services: services.map(([serviceId, status]) => ({ serviceId, status })) },
    })
  const resolves = (time: string, { id: incidentId }: { readonly id: string }) =>
    postIncidentUpdate(then(time), { incidentId, status: 'RESOLVED', message: 'Well.' })
  const outage = async (from: string, to: string, status: ServiceStatus) => {
    const incident = await opens(from, [api, status])
    await resolves(to, incident)
    return incident
  }

  // The API recovers before the shop.
  const both = await opens('07:00', [api, 'MAJOR_OUTAGE'], [shop, 'MAJOR_OUTAGE'])
  const recovered = [{ serviceId: api, status: 'OPERATIONAL' }]
  await postIncidentUpdate(then('07:28'), {
    ...{ incidentId: both.id, status: 'MONITORING', message: 'The API is back.', services: recovered },
  })
  await resolves('08:45', both)
  // A monitor opened this one, which lasted longer than what it measured.
  const measured = await outage('09:00', '09:20', 'MAJOR_OUTAGE')
  await prisma.incident.update({ where: { id: measured.id }, data: { automatic: true } })
  await outage('09:06', '10:06', 'PARTIAL_OUTAGE')
  await outage('12:00', '15:00', 'MAJOR_OUTAGE')
  await outage('18:00', '19:00', 'DEGRADED_PERFORMANCE')
  await outage('20:30', '20:45', 'MAJOR_OUTAGE')
  const [startsAt, endsAt] = [at('14:30'), at('15:30')]
  await prisma.maintenance.create({
    data: {
      ...{ id: newId('Maintenance'), organizationId: acme.id, title: 'New disks', status: 'COMPLETED' },
      ...{ startsAt, endsAt, startedAt: startsAt, endedAt: endsAt, createdAt: startsAt },
      services: { create: { serviceId: api } },
    },
  })
  await closeDays(testContext(prisma, { now: () => noon }))
  expect(await prisma.uptimeDay.count({ where: { subjectId: api } }), 'the day is closed').toBeGreaterThan(40)
  await updatePageReports(acme.ctx, { pageId: acme.id, published: true })
  await createObjective(acme.ctx, { serviceId: api, target: 99, windowDays: 90 })
  return { acme, api, shop }
}

/** What every form of the figures says about a service: seconds of outage, by where they were read. */
const query = `query ($id: ID!, $from: DateTime!, $to: DateTime!) {
  node(id: $id) { ... on Service {
    uptime(from: $from, to: $to) { ...all }
    days(n: 90) { date ...all }
    bars(range: DAYS_90) { from ...all }
    year: bars(range: YEAR) { ...all }
  } }
  organization { objectives(first: 5) { nodes { service { id } standing { badSeconds } } } }
}
fragment all on UptimeFigures {
  source percentage upSeconds degradedSeconds partialSeconds downSeconds outageSeconds unknownSeconds maintenanceSeconds
}`

interface Figures {
  readonly source: string
  readonly outageSeconds: number
}
interface Answer {
  readonly uptime: Figures
  readonly days: readonly (Figures & { readonly date: string })[]
  readonly bars: readonly (Figures & { readonly from: string })[]
  readonly year: readonly Figures[]
}

interface Objectives {
  readonly objectives: {
    readonly nodes: readonly {
      readonly service: { readonly id: string }
      readonly standing: { readonly badSeconds: number }
    }[]
  }
}

const plain = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

test('all figures of a service agree to the second, by each source', async () => {
  const { acme, api, shop } = await scripted()
  const app = await testApp({ dns: await startDnsServer(), database, now: () => noon })
  const { apiKey: _, secret } = await createApiKey(acme.ctx, { name: 'Reader', scope: 'READ' })
  const get = async (path: string) => {
    const answer = await fetch(`${app.baseUrl}/status/${acme.slug}${path}`)
    expect(answer.status, path).toBe(200)
    return answer.text()
  }
  const graphql = async (id: string) => {
    const { data, errors } = await post(app.baseUrl, {
      key: secret,
      query,
      variables: { id, from: at('00:00'), to: new Date(+at('00:00') + DAY) },
    })
    expect(errors).toBeUndefined()
    const { node, organization } = data as unknown as { node: Answer; organization: Objectives }
    return { ...node, objective: organization.objectives.nodes.find(({ service }) => service.id === id) }
  }
  /** The minutes of outage of the day everywhere, which must all be the same. */
  const everywhere = async (id: string) => {
    const read = await graphql(id)
    const { services } = JSON.parse(await get('/reports/2026-10/report.json')) as {
      services: { id: string; down_seconds: number; source: string }[]
    }
    const reported = services.find((service) => service.id === id)
    const sum = (bars: readonly Figures[]) => bars.reduce((total, { outageSeconds }) => total + outageSeconds, 0)
    const csv = (await get('/reports/2026-10/report.csv')).split('\r\n').map((line) => line.split(','))
    const name = id === api ? 'API' : 'Shop'
    const column = csv[0]?.indexOf('down_seconds') ?? -1
    const seconds = {
      uptime: read.uptime.outageSeconds,
      day: read.days.find(({ date }) => date === day)?.outageSeconds,
      days: sum(read.days),
      bars: sum(read.bars),
      year: sum(read.year),
      report: reported?.down_seconds,
      csv: Number(csv.find(([first]) => first === name)?.[column]),
      ...(read.objective && { objective: read.objective.standing.badSeconds }),
    }
    const sources = new Set([read.uptime.source, read.days[0]?.source, reported?.source])
    expect(sources.size).toBe(1)
    expect(new Set(Object.values(seconds)), JSON.stringify(seconds)).toEqual(new Set([seconds.uptime]))
    return { outage: seconds.uptime, ...read.uptime }
  }
  const minutes = (count: number) => (count * MINUTE) / 1000

  const down = 28 + 12 + 150 + 15
  expect(await everywhere(api)).toMatchObject({
    source: 'MONITORS_AND_INCIDENTS',
    outage: minutes(down + 54 * 0.3),
    ...{ downSeconds: minutes(down), partialSeconds: minutes(54), degradedSeconds: minutes(60) },
    ...{ unknownSeconds: minutes(45), maintenanceSeconds: minutes(60) },
    percentage: Math.floor(100_000 * (1 - (down + 16.2) / (24 * 60 - 45 - 60))) / 1000,
  })
  expect(await everywhere(shop)).toMatchObject({ source: 'INCIDENTS', outage: minutes(105), downSeconds: minutes(105) })

  const onDay = plain(await get(`/services/${api}?day=${day}`))
  expect(onDay).toContain('83.43% Time with data')
  expect(onDay).toContain('Down 3 h 25 min, partial outage 54 min and degraded 1 h in 22 h 15 min monitored.')
  expect(onDay, 'the part of the service').toMatch(
    /Major outage: ?Disks 10 Oct 2026, 07:00 UTC to 10 Oct 2026, 07:28 UTC/,
  )
  expect(onDay).not.toContain('08:45')
  expect(plain(await get(`/services/${shop}?day=${day}`))).toContain('10 Oct 2026, 08:45 UTC')
  const known = (+noon - +new Date('2026-10-01')) / MINUTE - 45 - 60
  const whole = `${Math.floor(100_000 * (1 - (down + 16.2) / known)) / 1000}%`
  const page = plain(await get(`/services/${api}`))
  expect(page).toContain(`${whole} uptime`)
  expect(page).toContain('Down 3 h 25 min, partial outage 54 min and degraded 1 h')
  expect(page).toContain('A partial outage counts 30%.')
  expect(plain(await get('')), 'the overview').toContain(whole)
  expect(plain(await get('/reports/2026-10'))).toContain('Down 3 h 25 min, partial outage 54 min')

  await updateOrganization(acme.ctx, { uptimeSource: 'MONITORS' })
  expect(await everywhere(api)).toMatchObject({ source: 'MONITORS', outage: minutes(12), partialSeconds: 0 })
  await updateOrganization(acme.ctx, { uptimeSource: 'INCIDENTS' })
  // From 09:00 to 09:20 as its incident says, then the partial outage; maintenance ends before the outage does.
  expect(await everywhere(api)).toMatchObject({
    ...{ source: 'INCIDENTS', outage: minutes(28 + 20 + 150 + 15 + 46 * 0.3), unknownSeconds: 0 },
  })
})
