import { expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import { createMonitor } from '../../../src/monitoring/monitor/monitor.ts'
import { createMonitors } from '../../../src/monitoring/monitor/new-monitor.ts'
import { portsPerDay } from '../../../src/monitoring/monitor/target.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { samples, sealing } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
await prisma.region.create({ data: { name: 'east', lastSeenAt: noon } })

test('monitors that are created together equal monitors that are created one by one, and each can be refused', async () => {
  const acme = await tenant()
  const [serviceId] = await acme.services('API')
  const alone = await createMonitor(sealing(acme), { name: 'Alone', http: samples.http, serviceId })
  const inputs = [
    { name: ' ', http: samples.http },
    { name: 'Together', http: samples.http, serviceId },
    { name: 'Foreign', http: samples.http, serviceId: 'svc_0' },
    { name: 'Job', heartbeat: samples.heartbeat },
    { name: 'Fourth', http: samples.http },
    { name: 'Fifth', http: samples.http },
    { name: 'Sixth', http: samples.http },
  ]
  const outcomes = await createMonitors(sealing(acme), inputs)
  expect(outcomes.map((each) => (each instanceof DomainError ? each.code : each.name))).toEqual([
    'INVALID_INPUT',
    'Together',
    'NOT_FOUND',
    'Job',
    'Fourth',
    'Fifth',
    'TIER_LIMIT_REACHED',
  ])
  const include = { watches: true, intervals: true } as const
  const read = async (name: string) => {
    const monitor = await prisma.monitor.findFirstOrThrow({ where: { organizationId: acme.id, name }, include })
    return JSON.parse(JSON.stringify(monitor).replaceAll(monitor.id, 'ID').replaceAll(name, 'NAME'))
  }
  const own = { options: expect.anything() }
  expect(await read('Together')).toEqual({ ...(await read(alone.name)), ...own })
  expect(await read('Job')).toMatchObject({ heartbeatHash: expect.any(String), watches: [{ dueAt: null }] })
  expect((await acme.news()).filter((news) => news.startsWith('MONITOR_CREATED'))).toHaveLength(5)
})

test('the limit of new ports applies to monitors that are created together', async () => {
  const acme = await tenant('TEAM')
  const { perHost } = portsPerDay.TEAM
  const onPort = (port: number) => ({ name: `Port ${port}`, tcp: { host: 'ports.example.com', port } })
  await createMonitor(sealing(acme), onPort(1000))
  const together = [1000, 1000, ...Array.from({ length: perHost }, (_, index) => 1001 + index)].map(onPort)
  const outcomes = await createMonitors(sealing(acme), together)
  expect(outcomes.slice(0, -1).filter((each) => each instanceof DomainError)).toEqual([])
  expect(outcomes.at(-1)).toMatchObject({ code: 'RATE_LIMITED' })
  await expect(createMonitor(sealing(acme), onPort(2000))).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})
