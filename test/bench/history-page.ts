import { Hono } from 'hono'
import { newId } from '../../src/core/id.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { openDatabase } from '../../src/database/client.ts'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'
import { loadAssets } from '../../src/http/assets/assets.ts'
import { BUCKETS } from '../../src/monitoring/uptime/histogram.ts'
import { closeDays } from '../../src/monitoring/uptime/uptime-days.ts'
import { liveScript, statusPages, statusStylesheet } from '../../src/status-page/html/routes.tsx'
import { readPage } from '../../src/status-page/read-page.ts'
import { writeMonitors } from '../monitoring/histories.ts'
import { testContext } from '../support/context.ts'
import { pageSourceOf } from '../support/page-guard.ts'
import { silent } from '../support/scratch.ts'
import { uncached } from '../support/uncached.ts'
import { line, median, title, verdict } from './report.ts'

const services = 100
const days = 90
const rounds = 15
/** An outage of ten minutes at this interval in days: nine in all. */
const every = 10

/** (g) The page of an organization with many monitors and 90 days of each, on the embedded database. */
export async function historyPage(dataDir: string): Promise<void> {
  title(`(g) A page with ${services} monitored services and ${days} days of each, rendered anew each time`)
  const database = await openDatabase({ dataDir, databaseUrl: undefined, log: silent })
  try {
    const { prisma } = database
    const now = new Date()
    const [large, small] = [await fill(prisma, services, now), await fill(prisma, 1, now)]
    line(`one service: ${await reported(prisma, small, now)}`)
    line(`${services} services, no day closed: ${await reported(prisma, large, now)}`)
    const begun = performance.now()
    while (await closeDays(testContext(prisma, { now: () => now })));
    line(
      `closing ${(services * 2 * (days - 1)).toLocaleString('en')} days: ${(performance.now() - begun).toFixed(0)} ms`,
    )
    line(`${services} services, days closed: ${await reported(prisma, large, now)}`)
    const [one, many] = [await statements(prisma, small, now), await statements(prisma, large, now)]
    verdict(`statements for ${services} services over those for one`, many / one, { most: 1 })
    verdict('milliseconds of processor to read and render it', (await pageTime(prisma, large, now)).cpu, { most: 250 })
  } finally {
    await database.close()
  }
}

/** Creates an organization with so many services, each with a monitor and its history. Returns its slug. */
async function fill(prisma: PrismaClient, count: number, now: Date): Promise<string> {
  const organizationId = newId('Organization')
  const slug = `bench-${count}`
  const createdAt = new Date(now.getTime() - days * DAY)
  const at = (milliseconds: number) => new Date(createdAt.getTime() + milliseconds)
  await prisma.organization.deleteMany({ where: { slug } })
  const organization = { id: organizationId, slug, name: 'Bench', contactEmail: 'ops@acme.example', createdAt }
  await prisma.organization.create({ data: { ...organization, tier: 'TEAM' } })
  const ids = Array.from({ length: count }, () => newId('Service'))
  const service = { organizationId, name: 'API', createdAt }
  await prisma.service.createMany({ data: ids.map((id, position) => ({ ...service, id, position })) })
  const outages = Array.from({ length: Math.floor(days / every) }, (_, index) => (index + 0.5) * every * DAY)
  const states = [
    ['UP', createdAt] as const,
    ...outages.flatMap((from) => [['DOWN', at(from)] as const, ['UP', at(from + 10 * MINUTE)] as const]),
  ]
  const monitors = await writeMonitors(
    prisma,
    ids.map((serviceId) => ({ organizationId, serviceId, states, lastKnownAt: now })),
  )
  const latencies = Array.from({ length: BUCKETS }, (_, bucket) => (bucket > 20 && bucket < 30 ? 6 : 0))
  const counts = { up: 54, degraded: 0, down: 0, unknown: 0, latencies }
  await prisma.monitorHour.createMany({
    data: monitors.flatMap((monitorId) =>
      Array.from({ length: 24 }, (_, ago) => {
        const hour = new Date((Math.floor(now.getTime() / HOUR) - ago) * HOUR)
        return { monitorId, hour, ...counts }
      }),
    ),
  })
  return slug
}

async function reported(prisma: PrismaClient, slug: string, now: Date): Promise<string> {
  const readTimes: number[] = []
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now()
    await readPage(
      uncached(prisma, () => now),
      slug,
      { page: 'overview', range: '90d' },
    )
    readTimes.push(performance.now() - begun)
  }
  const [count, { wall, cpu }] = [await statements(prisma, slug, now), await pageTime(prisma, slug, now)]
  const page = `${wall.toFixed(1)} ms (${cpu.toFixed(1)} ms of processor) with HTML and gzip`
  return `${count} statements, ${median(readTimes).toFixed(1)} ms to read, ${page}`
}

async function statements(prisma: PrismaClient, slug: string, now: Date): Promise<number> {
  let count = 0
  const counted = prisma.$extends({
    query: {
      $allOperations({ args, query }) {
        count += 1
        return query(args)
      },
    },
  })
  await readPage(
    uncached(counted as unknown as PrismaClient, () => now),
    slug,
    { page: 'overview', range: '90d' },
  )
  return count
}

/** Median milliseconds of an uncached answer of the page, and of processor time, all threads together. */
async function pageTime(prisma: PrismaClient, slug: string, now: Date): Promise<{ wall: number; cpu: number }> {
  const assets = await loadAssets([liveScript, statusStylesheet])
  const site = { assets, baseUrl: 'https://allclear.example' }
  const times: number[] = []
  const before = process.cpuUsage()
  for (let round = 0; round < rounds; round++) {
    const app = new Hono()
    app.route('/', statusPages(pageSourceOf(site, prisma, () => now)))
    const begun = performance.now()
    await (await app.request(`/status/${slug}`)).text()
    times.push(performance.now() - begun)
  }
  const { user, system } = process.cpuUsage(before)
  return { wall: median(times), cpu: (user + system) / 1000 / rounds }
}
