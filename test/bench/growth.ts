import { readFileSync } from 'node:fs'
import { graphql } from 'graphql'
import { Hono } from 'hono'
import pg from 'pg'
import { schema } from '../../src/app/schema.ts'
import { newId } from '../../src/core/id.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { openDatabase } from '../../src/database/client.ts'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'
import { loadAssets } from '../../src/http/assets/assets.ts'
import { closeDays } from '../../src/monitoring/uptime/uptime-days.ts'
import { postIncidentUpdate } from '../../src/status/incident/incident-updates.ts'
import { liveScript, statusPages, statusStylesheet } from '../../src/status-page/html/routes.tsx'
import { documentRoutes } from '../../src/status-page/http/documents.ts'
import { createPageCache } from '../../src/status-page/page-cache.ts'
import { createPngRenderer } from '../../src/status-page/png-renderer.ts'
import { writeMonitors } from '../monitoring/histories.ts'
import { testContext } from '../support/context.ts'
import { pageGuardOf, pageSourceOf } from '../support/page-guard.ts'
import { silent } from '../support/scratch.ts'
import { ownDatabase } from './postgres.ts'
import { line, median, title, verdict } from './report.ts'

const services = 100
const days = 90
const sizes = [10, 100, 1000, 10_000]
const rounds = 7
/** Unresolved incidents. */
const open = 3

/** The cost of an answer: statements, milliseconds of the main thread's processor time, and bytes. */
interface Cost {
  readonly statements: number
  readonly main: number
  readonly bytes: number
}

/**
 * (k) The cost of each kind of answer after a change, as the incidents of a page with 100 monitored services and 90
 * days grow.
 */
export async function growth(dataDir: string): Promise<void> {
  title(`(k) After a change, ${services} services, ${days} days, a growing number of incidents (medians of ${rounds})`)
  await on('embedded', dataDir)
  const server = await ownDatabase()
  if (typeof server === 'string') return line(`PostgreSQL: left out: ${server}`)
  try {
    await on('PostgreSQL', dataDir, server.url)
  } finally {
    await server.remove()
  }
}

async function on(name: string, dataDir: string, databaseUrl?: string): Promise<void> {
  const database = await openDatabase({ dataDir, databaseUrl, log: silent })
  const pngRenderer = createPngRenderer()
  try {
    const { prisma } = database
    const now = new Date()
    const costs: Record<string, Cost[]> = {}
    const turns: number[] = []
    for (const size of sizes) {
      const page = await fill(prisma, size, now)
      const measured = await measure(prisma, page, now, pngRenderer)
      turns.push(measured.longestTurn)
      for (const [door, cost] of Object.entries(measured.costs)) {
        costs[door] = [...(costs[door] ?? []), cost]
        const { statements, main, bytes } = cost
        const figures = `${statements} statements, ${main.toFixed(1)} ms of main thread`
        line(`${name}, ${size} incidents: ${door}: ${figures}, ${(bytes / 1000).toFixed(1)} kB`)
      }
    }
    for (const [door, measured] of Object.entries(costs)) judge(`${name}: ${door}`, measured)
    const [changed, page] = [costs['page']?.[2], costs['page from nothing']?.[2]]
    if (changed === undefined || page === undefined) return
    verdict(`${name}: milliseconds of main thread of the page with 1,000 incidents, after a change`, changed.main, {
      most: 60,
    })
    verdict(`${name}: statements of it from nothing`, page.statements, { most: 8 })
    verdict(`${name}: milliseconds of main thread of it from nothing`, page.main, { most: 60 })
    verdict(`${name}: longest turn of the main thread for it, in ms`, turns[2] ?? 0, { most: 25 })
    verdict(`${name}: kilobytes of it`, page.bytes / 1000, { most: 250 })
  } finally {
    await pngRenderer.close()
    await database.close()
  }
}

/** A list counts as full from this share of the largest answer on. */
const FULL = 0.9

/**
 * Prints how the milliseconds grow with the incidents once the answer is full: a list of ten rows takes less than one of
 * fifty, however many there are. Prints the rest beside it.
 */
function judge(door: string, costs: readonly Cost[]): void {
  const largest = Math.max(...costs.map(({ bytes }) => bytes))
  const full = costs.findIndex(({ bytes }) => bytes >= FULL * largest)
  const [smallest, first] = [costs[0], costs[full]]
  if (smallest === undefined || first === undefined) return
  const slowest = Math.max(...costs.slice(full).map(({ main }) => main))
  if (full > 0) {
    const [milliseconds, bytes] = [slowest / smallest.main, largest / smallest.bytes]
    line(
      `${door}: the answer is full from ${sizes[full]} incidents on: ${milliseconds.toFixed(2)} times the milliseconds with ${sizes[0]}, and ${bytes.toFixed(2)} times the bytes`,
    )
  }
  const from = `milliseconds with up to ${sizes.at(-1)} incidents over those with ${sizes[full]}`
  verdict(`${door}: ${from}`, slowest / first.main, { most: 1.5 })
}

interface Page {
  readonly slug: string
  readonly organizationId: string
  readonly incidentId: string
}

/** The cost of each kind of answer after one change. Requests the badge after the page, as readers do. */
async function measure(
  prisma: PrismaClient,
  { slug, organizationId, incidentId }: Page,
  now: Date,
  pngRenderer: ReturnType<typeof createPngRenderer>,
): Promise<{ readonly costs: Record<string, Cost>; readonly longestTurn: number }> {
  const site = { assets: await loadAssets([liveScript, statusStylesheet]), baseUrl: 'https://allclear.example' }
  const cache = createPageCache(() => now)
  const app = new Hono()
  app.route(
    '/',
    documentRoutes({ site, guard: pageGuardOf(prisma, () => now), db: prisma, cache, pngRenderer, now: () => now }),
  )
  app.route('/', statusPages({ site, guard: pageGuardOf(prisma, () => now), db: prisma, cache, now: () => now }))
  const actor = { kind: 'apiKey', keyId: 'key', organizationId, scope: 'ADMIN', checkPlan: 'FREE' } as const
  const owner = testContext(prisma, { actor, now: () => now })
  const visitor = testContext(prisma, { actor: { kind: 'visitor' }, now: () => now })
  const path = (rest: string) => async () =>
    (await (await app.request(`/status/${slug}${rest}`)).arrayBuffer()).byteLength
  const query = (fields: string) => async () => {
    const source = `{ statusPage(slug: "${slug}") { ${fields} } }`
    const result = await graphql({ schema, source, contextValue: visitor })
    if (result.errors) throw result.errors[0]
    return JSON.stringify(result).length
  }
  const doors: Readonly<Record<string, () => Promise<number>>> = {
    page: path(''),
    'page from nothing': async () => {
      const fresh = new Hono()
      fresh.route('/', statusPages(pageSourceOf(site, prisma, () => now)))
      return (await (await fresh.request(`/status/${slug}`)).arrayBuffer()).byteLength
    },
    'badge.svg': path('/badge.svg'),
    'summary.json': path('/api/v2/summary.json'),
    'history.atom': path('/history.atom'),
    history: path('/history'),
    'GraphQL page': query(
      'status { description } services { name status } incidents { title updates { nodes { message } } } pastIncidents(first: 20) { totalCount edges { node { title } } }',
    ),
    uptime: query('services { name days(n: 90) { date percentage } }'),
  }
  const costs: Record<string, Cost[]> = {}
  const turns: number[] = []
  for (let round = 0; round <= rounds; round++) {
    await postIncidentUpdate(owner, { incidentId, status: 'IDENTIFIED', message: `We are looking, round ${round}.` })
    cache.invalidate(organizationId)
    for (const [door, ask] of Object.entries(doors)) {
      const cost = await costOf(ask)
      // The first round compiles code.
      if (round > 0) costs[door] = [...(costs[door] ?? []), cost]
    }
    cache.invalidate(organizationId)
    await postIncidentUpdate(owner, { incidentId, status: 'IDENTIFIED', message: 'We are looking for it.' })
    const ask = doors['page from nothing']
    if (ask) turns.push(await longestTurn(ask))
  }
  const middles = Object.fromEntries(Object.entries(costs).map(([door, all]) => [door, middleOf(all)]))
  return { costs: middles, longestTurn: median(turns) }
}

function middleOf(all: readonly Cost[]): Cost {
  const middle = (of: keyof Cost) => median(all.map((cost) => cost[of]))
  return { statements: middle('statements'), main: middle('main'), bytes: middle('bytes') }
}

async function costOf(ask: () => Promise<number>): Promise<Cost> {
  const query = pg.Client.prototype.query
  let statements = 0
  // biome-ignore lint/suspicious/noExplicitAny: it has many signatures and is forwarded.
  pg.Client.prototype.query = function counted(this: pg.Client, ...given: any[]) {
    statements += 1
    return Reflect.apply(query, this, given)
  } as typeof query
  const begun = mainThreadTime()
  try {
    const bytes = await ask()
    return { statements, main: mainThreadTime() - begun, bytes }
  } finally {
    pg.Client.prototype.query = query
  }
}

/** The longest turn of the main thread during an answer, in milliseconds of processor time. */
async function longestTurn(ask: () => Promise<number>): Promise<number> {
  let longest = 0
  let isAsking = true
  const watch = (before: number) => {
    const now = mainThreadTime()
    longest = Math.max(longest, now - before)
    if (isAsking) setImmediate(watch, mainThreadTime())
  }
  setImmediate(watch, mainThreadTime())
  await ask()
  isAsking = false
  await new Promise((resolve) => setImmediate(resolve))
  return longest
}

/** Milliseconds of processor time that the main thread has used, as counted by the kernel. */
function mainThreadTime(): number {
  const [nanoseconds = ''] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')
  return Number(nanoseconds) / 1e6
}

/** An organization with monitored services, whose days are closed, and incidents spread over those days. */
async function fill(prisma: PrismaClient, incidents: number, now: Date): Promise<Page> {
  const organizationId = newId('Organization')
  const slug = `growth-${incidents}`
  const ago = (milliseconds: number) => new Date(now.getTime() - milliseconds)
  await prisma.organization.deleteMany({ where: { slug } })
  const createdAt = ago(days * DAY)
  const organization = { id: organizationId, slug, name: 'Growth', contactEmail: 'ops@acme.example', createdAt }
  await prisma.organization.create({ data: { ...organization, tier: 'TEAM' } })
  const serviceIds = Array.from({ length: services }, () => newId('Service'))
  const service = { organizationId, createdAt }
  await prisma.service.createMany({
    data: serviceIds.map((id, position) => ({ ...service, id, position, name: `Service ${position}` })),
  })
  await writeMonitors(
    prisma,
    serviceIds.map((serviceId, index) => ({
      ...{ organizationId, serviceId, lastKnownAt: now },
      states: [
        ['UP', createdAt] as const,
        ...Array.from({ length: 9 }, (_, nth) => ago((nth * 10 + (index % 10)) * DAY + 3 * HOUR))
          .toReversed()
          .flatMap((down) => [['DOWN', down] as const, ['UP', new Date(down.getTime() + 10 * MINUTE)] as const]),
      ],
    })),
  )
  while (await closeDays(testContext(prisma, { now: () => now })));
  const ids = Array.from({ length: incidents }, () => newId('Incident'))
  const rows = ids.map((id, nth) => {
    const startedAt = ago(((nth + 0.5) / incidents) * days * DAY)
    const isOpen = nth < open
    const resolvedAt = isOpen ? null : new Date(Math.min(now.getTime(), startedAt.getTime() + HOUR))
    const state = { status: isOpen ? 'INVESTIGATING' : 'RESOLVED', impact: 'MINOR', resolvedAt, startedAt } as const
    return { id, organizationId, title: `Payments are slow, case ${nth}`, createdAt: startedAt, ...state }
  })
  await prisma.incident.createMany({ data: rows })
  const affected = (nth: number) => [0, 1].map((which) => serviceIds[(nth * 2 + which) % services] ?? '')
  await prisma.incidentService.createMany({
    data: ids.flatMap((incidentId, nth) =>
      affected(nth).map((serviceId) => ({
        ...{ incidentId, serviceId },
        status: nth < open ? ('DEGRADED_PERFORMANCE' as const) : ('OPERATIONAL' as const),
      })),
    ),
  })
  const updates = rows.flatMap(({ id, startedAt, status }, incident) =>
    (['INVESTIGATING', 'IDENTIFIED', status] as const).map((each, nth) => ({
      incident,
      row: {
        ...{ id: newId('IncidentUpdate'), organizationId, incidentId: id, status: each },
        message: 'We see that some payments take longer than usual, and are looking for the reason.',
        html: '<p>We see that some payments take longer than usual, and are looking for the reason.</p>',
        createdAt: new Date(startedAt.getTime() + nth * MINUTE),
      },
    })),
  )
  await prisma.incidentUpdate.createMany({ data: updates.map(({ row }) => row) })
  await prisma.incidentUpdateService.createMany({
    data: updates.flatMap(({ incident, row: { id, status } }) => {
      const statuses = { INVESTIGATING: 'DEGRADED_PERFORMANCE', IDENTIFIED: null, RESOLVED: 'OPERATIONAL' } as const
      const given = statuses[status]
      return given === null ? [] : affected(incident).map((serviceId) => ({ updateId: id, serviceId, status: given }))
    }),
  })
  await prisma.$executeRaw`ANALYZE`
  return { slug, organizationId, incidentId: ids[0] ?? '' }
}
