import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import pg from 'pg'
import { createOrganization } from '../../src/account/organization/organization.ts'
import { startApp } from '../../src/app/start.ts'
import type { DnsServer } from '../../src/core/config.ts'
import { readConfig } from '../../src/core/config.ts'
import { transaction } from '../../src/core/context.ts'
import { newId } from '../../src/core/id.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { openDatabase } from '../../src/database/client.ts'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'
import { insertMembership } from '../../src/people/membership.ts'
import { startSession } from '../../src/people/session.ts'
import { insertUser } from '../../src/people/user.ts'
import { writeMonitors } from '../monitoring/histories.ts'
import { testContext } from '../support/context.ts'
import { silent, temporaryDirectory } from '../support/scratch.ts'
import { processorTime } from './processor.ts'
import { line, title, verdict } from './report.ts'
import { hasWrk } from './wrk.ts'

const MONITORS = 1000
/** State changes of each monitor on days that are not closed: the worst case for their bars. */
const CHANGES = 60
const SERVICES = 1000
const INCIDENTS = 1000
const SUBSCRIBERS = 10_000
const EVENTS = 10_000
/** People and keys, as many as a screen of an organization may show. */
const PEOPLE = 199
const KEYS = 200
const SLUG = 'bench-console'
const seconds = 2
const rounds = 3

/**
 * The limits of a screen (issue of the console): statements, milliseconds of the main thread, bytes, bytes of scripts.
 */
const MOST = { statements: 10, milliseconds: 40, bytes: 100_000, script: 40_000 }

/** (p) Each screen of the console for a large organization. */
export async function consoleScreens(dns: DnsServer): Promise<void> {
  if (!(await hasWrk())) return title('(p) Screens of the console: skipped, because wrk is not installed')
  title(
    `(p) Screens of the console with ${SERVICES} services, ${MONITORS} monitors, ${INCIDENTS} incidents and ${SUBSCRIBERS} subscribers`,
  )
  const disk = await temporaryDirectory()
  const database = await openDatabase({ dataDir: disk.path, databaseUrl: undefined, log: silent })
  const { token, paths } = await fill(database.prisma, new Date())
  const { address, port } = dns
  const settings = { PORT: '0', HOST: '127.0.0.1', DATA_DIR: disk.path, DNS_SERVERS: `${address}:${port}` }
  const config = readConfig({ ...settings, ROLE: 'web', DEFAULT_TIER: 'team', ADMIN_TOKEN: 'token-of-the-bench' })
  const app = await startApp({ config, log: silent, openDatabase: async () => database })
  try {
    const cookie = `allclear_session=${token}`
    const found = new Map<string, Measured>()
    // Alternately, and the best of each, to exclude other work of the service.
    for (let round = 0; round < rounds; round++) {
      for (const path of paths) {
        const next = await measure(`${app.baseUrl}/console/${path}`, cookie)
        found.set(path, better(next, found.get(path)))
      }
    }
    for (const [path, screen] of found) line(rowOf(path, screen))
    const worst = (of: (screen: Measured) => number) => Math.max(...[...found.values()].map(of))
    verdict(
      'most statements of a screen',
      worst(({ statements }) => statements),
      { most: MOST.statements },
    )
    verdict(
      'most milliseconds of the main thread',
      worst(({ cpu }) => cpu),
      { most: MOST.milliseconds },
    )
    verdict(
      'most bytes of a screen',
      worst(({ bytes }) => bytes),
      { most: MOST.bytes },
    )
    verdict('bytes of script, first view', await scriptBytes(app.baseUrl, cookie), { most: MOST.script })
  } finally {
    await app.close()
    await disk.remove()
  }
}

interface Measured {
  /**
   * Milliseconds of the main thread for the first request ever. That of `now` compiles shared code, and reads the state
   * of the organization, which is cached.
   */
  readonly first: number
  readonly statements: number
  readonly cpu: number
  readonly bytes: number
}

/** Requests a screen, one request after the other, from a separate process. */
async function measure(url: string, cookie: string): Promise<Measured> {
  const begun = await processorTime(process.pid)
  const response = await fetch(url, { headers: { cookie } })
  const bytes = Buffer.byteLength(await response.text())
  if (response.status !== 200) throw new Error(`${url} was answered with ${response.status}`)
  const first = (await processorTime(process.pid)).mainThread - begun.mainThread
  const statements = await countStatements(async () => void (await (await fetch(url, { headers: { cookie } })).text()))
  const before = await processorTime(process.pid)
  const { stdout } = await promisify(execFile)('wrk', ['-t1', '-c1', `-d${seconds}s`, '-H', `Cookie: ${cookie}`, url])
  const after = await processorTime(process.pid)
  const answers = Number(/(\d+) requests in/.exec(stdout)?.[1])
  const cpu = (after.mainThread - before.mainThread) / 1000 / answers
  return { first: first / 1000, statements, cpu, bytes }
}

const better = (one: Measured, other: Measured = one): Measured => ({
  // Only in the first round is it the first.
  first: other.first,
  statements: Math.min(one.statements, other.statements),
  cpu: Math.min(one.cpu, other.cpu),
  bytes: one.bytes,
})

function rowOf(path: string, { first, statements, cpu, bytes }: Measured): string {
  const name = path
    .replace(`${SLUG}/`, '')
    .replace(/[a-z]{3}_\w+/, '…')
    .padEnd(26)
  const [ms, kB] = [cpu.toFixed(1).padStart(5), String(Math.round(bytes / 1000)).padStart(3)]
  return `${name} ${String(statements).padStart(2)} statements ${ms} ms ${kB} kB, first ${first.toFixed(0).padStart(3)} ms`
}

/** Counts the statements of some work; the minimum of three runs, because background jobs send statements too. */
async function countStatements(work: () => Promise<void>): Promise<number> {
  const { query } = pg.Client.prototype
  const counts: number[] = []
  for (let turn = 0; turn < 3; turn++) {
    let count = 0
    pg.Client.prototype.query = function (this: pg.Client, ...given: Parameters<typeof query>) {
      count += 1
      return query.apply(this, given)
    } as typeof query
    await work()
    pg.Client.prototype.query = query
    counts.push(count)
  }
  return Math.min(...counts)
}

/** Adds up the bytes of the scripts that a screen loads, as sent. */
async function scriptBytes(baseUrl: string, cookie: string): Promise<number> {
  const html = await (await fetch(`${baseUrl}/console/${SLUG}/now`, { headers: { cookie } })).text()
  const paths = [...html.matchAll(/<script[^>]*src="([^"]+)"/g)].map(([, path = '']) => path)
  let total = 0
  for (const path of paths) {
    const script = Buffer.from(await (await fetch(baseUrl + path)).arrayBuffer())
    line(`${path.replace(/-?[0-9A-Z]{8}/i, '')}: ${script.length} bytes, ${gzipSync(script).length} compressed`)
    total += gzipSync(script).length
  }
  return total
}

/** Fills an organization. Returns the session of its owner, and the screens to measure. */
async function fill(prisma: PrismaClient, now: Date) {
  const ctx = testContext(prisma, { actor: { kind: 'operator' }, now: () => now })
  const { organization } = await createOrganization(ctx, { name: 'Bench', slug: SLUG, contactEmail: 'o@acme.example' })
  const organizationId = organization.id
  await prisma.organization.update({ where: { id: organizationId }, data: { tier: 'TEAM' } })
  const token = await transaction(ctx, async (tx) => {
    const user = await insertUser(tx, 'MAILED_SIGN_UP_LINK', {
      email: 'owner@acme.example',
      name: 'Owner',
      passwordHash: null,
      isOperator: true,
    })
    await insertMembership(tx, { organizationId, userId: user.id, role: 'OWNER' }, user.name)
    return startSession(tx, user.id, 'a browser')
  })
  const createdAt = new Date(now.getTime() - 60 * DAY)
  const serviceIds = Array.from({ length: SERVICES }, () => newId('Service'))
  await prisma.service.createMany({
    data: serviceIds.map((id, position) => ({ id, organizationId, name: `Service ${position}`, position, createdAt })),
  })
  const serviceId = serviceIds[0] ?? ''
  const monitorIds = await fillMonitors(prisma, organizationId, serviceIds, now)
  const [monitorId = ''] = monitorIds
  const incidentId = await fillIncidents(prisma, organizationId, serviceIds, now)
  await fillSubscribers(prisma, organizationId, now)
  await fillPeople(prisma, organizationId, now)
  await fillAlerts(prisma, organizationId, monitorIds, now)
  await lengthenNames(prisma, organizationId)
  const paths = [
    ...['now', 'incidents', 'incidents/new', `incidents/${incidentId}`, 'maintenance', 'maintenance/new', 'services'],
    ...['services?page=2', 'services/new', `services/${serviceId}`, 'monitors', 'monitors?state=UNKNOWN'],
    ...['monitors?text=page', `monitors/${monitorId}`, `monitors/${monitorId}/edit`, 'subscribers'],
    ...[
      'subscribers?address=9',
      'subscribers/new',
      'deliveries',
      'page',
      'pages',
      'pages/new',
      'alerts',
      'alerts/channels/new?kind=ntfy',
      'people',
      'keys',
      'plan',
      'log',
      'blacklists',
    ],
    'account',
    ...(await fillChosen(prisma, organizationId, serviceIds, monitorIds, now)),
  ].map((path) => `${SLUG}/${path}`)
  const ofOperator = ['organizations', 'payments', 'workers', 'lists', 'settings'].map((path) => `operator/${path}`)
  const cases = (process.env['BENCH_CASES'] ?? '').split('|')
  return { token, paths: [...paths, ...ofOperator].filter((path) => cases.some((part) => path.includes(part))) }
}

/**
 * Writes a page, a repeating maintenance and an alert channel with the maximum of selected items. Returns their
 * screens.
 */
async function fillChosen(
  prisma: PrismaClient,
  organizationId: string,
  serviceIds: readonly string[],
  monitorIds: readonly string[],
  now: Date,
): Promise<string[]> {
  const [pageId, seriesId, channelId] = [newId('StatusPage'), newId('MaintenanceSeries'), newId('AlertChannel')]
  const page = { id: pageId, organizationId, slug: `${SLUG}-chosen`, name: 'Chosen', allServices: false }
  await prisma.page.create({ data: { ...page, createdAt: now } })
  await prisma.pageService.createMany({
    data: serviceIds.map((serviceId, position) => ({ pageId, serviceId, position })),
  })
  await prisma.maintenanceSeries.create({
    data: {
      ...{
        id: seriesId,
        organizationId,
        title: 'Restart',
        message: 'We restart.',
        timeZone: 'UTC',
        durationMinutes: 60,
      },
      ...{ firstStart: '2099-01-01T02:00', anchor: '2099-01-01T02:00', rule: 'FREQ=DAILY', createdAt: now },
      services: { create: serviceIds.map((serviceId) => ({ serviceId })) },
    },
  })
  await prisma.alertChannel.create({
    data: {
      ...{ id: channelId, organizationId, name: 'All of them', kind: 'NTFY' as const, address: '', changes: ['DOWN'] },
      ...{ label: 'ntfy.sh/allclear', destination: 'ntfy.sh', sinceSeq: 0, createdAt: now },
      ...{ monitorIds: monitorIds.slice(0, 500), serviceIds: serviceIds.slice(0, 500) },
    },
  })
  const ofPage = ['', '/order', '/access', '/embed', '/tokens'].map((path) => `pages/${pageId}${path}`)
  return [...ofPage, 'maintenance/series', `maintenance/series/${seriesId}/edit`, `alerts/channels/${channelId}`]
}

/** Writes alerts of as many monitors, of which the newest are open, and channels. */
async function fillAlerts(
  prisma: PrismaClient,
  organizationId: string,
  monitorIds: readonly string[],
  now: Date,
): Promise<void> {
  const at = (index: number) => new Date(now.getTime() - index * MINUTE)
  await prisma.alert.createMany({
    data: monitorIds.map((monitorId, index) => ({
      ...{ id: newId('Alert'), organizationId, subjectId: monitorId, subjectName: `Monitor ${index}` },
      ...{ change: 'DOWN' as const, state: 'DOWN' as const, message: 'The connection was refused (ECONNREFUSED).' },
      ...{ since: at(index), openedAt: at(index), endedAt: index < 300 ? null : now },
    })),
  })
  await prisma.alertChannel.createMany({
    data: Array.from({ length: 100 }, (_, index) => ({
      ...{ id: newId('AlertChannel'), organizationId, name: `Channel ${index}`, kind: 'NTFY' as const, address: '' },
      ...{ label: 'ntfy.sh/allclear', destination: 'ntfy.sh', changes: ['DOWN' as const], sinceSeq: 0, createdAt: now },
    })),
  })
}

async function fillMonitors(
  prisma: PrismaClient,
  organizationId: string,
  serviceIds: readonly string[],
  now: Date,
): Promise<string[]> {
  const step = (29 * DAY) / CHANGES
  const states = Array.from({ length: CHANGES }, (_, index) => {
    const at = new Date(now.getTime() - 29 * DAY + index * step)
    return [index % 2 ? ('DOWN' as const) : ('UP' as const), at] as const
  })
  const each = { organizationId, states, lastKnownAt: now }
  const pasts = Array.from({ length: MONITORS }, (_, index) => ({
    ...each,
    serviceId: serviceIds[index % SERVICES] ?? null,
  }))
  const ids = await writeMonitors(prisma, pasts)
  await prisma.monitor.updateMany({ where: { organizationId }, data: { options: { host: 'a.example', port: 443 } } })
  return ids
}

/** Writes incidents, of which the newest are open. Returns the newest. */
async function fillIncidents(
  prisma: PrismaClient,
  organizationId: string,
  serviceIds: readonly string[],
  now: Date,
): Promise<string> {
  const rows = Array.from({ length: INCIDENTS }, (_, index) => {
    const startedAt = new Date(now.getTime() - index * HOUR)
    const isOpen = index < 20
    return {
      ...{ id: newId('Incident'), organizationId, title: `Elevated error rates ${index}`, startedAt },
      ...{ status: isOpen ? ('MONITORING' as const) : ('RESOLVED' as const), impact: 'MINOR' as const },
      ...{ resolvedAt: isOpen ? null : new Date(+startedAt + 30 * MINUTE), automatic: false, createdAt: startedAt },
    }
  })
  await prisma.incident.createMany({ data: rows })
  await prisma.incidentService.createMany({
    data: rows.map(({ id, status }, index) => ({
      ...{ incidentId: id, serviceId: serviceIds[index % SERVICES] ?? '' },
      status: status === 'RESOLVED' ? 'OPERATIONAL' : 'PARTIAL_OUTAGE',
    })),
  })
  const message = 'We see more errors than usual, and look into it. Requests may be slow.'
  await prisma.incidentUpdate.createMany({
    data: rows.flatMap(({ id: incidentId, startedAt, status }, index) =>
      Array.from({ length: index === 0 ? 100 : 3 }, (_, number) => ({
        ...{ id: newId('IncidentUpdate'), organizationId, incidentId, status, message, html: `<p>${message}</p>` },
        ...{ htmlVersion: 1, createdAt: new Date(+startedAt + number * MINUTE) },
      })),
    ),
  })
  return rows[0]?.id ?? ''
}

/** Writes subscribers, one delivery to each, and events. */
async function fillSubscribers(prisma: PrismaClient, organizationId: string, now: Date): Promise<void> {
  await prisma.$executeRaw`
    INSERT INTO "Subscriber" (id, "organizationId", channel, address, "addressHash", label, destination, "tokenHash", token,
      topics, "allServices", "createdAt", "confirmableUntil", "confirmedAt")
    SELECT 'sub_' || lpad(each::text, 24, '0'), ${organizationId}, 'EMAIL', each, each, 'reader-' || each || '@a.example',
      'a.example', each, '', '{INCIDENTS}'::"Topic"[], true, at, at, at
    FROM (SELECT each, ${now}::timestamptz - each * interval '1 minute' AS at
      FROM generate_series(1, ${SUBSCRIBERS}::int) AS each) AS numbered`
  await prisma.$executeRaw`
    INSERT INTO "Delivery" (id, "organizationId", "subscriberId", channel, seq, "subjectId", destination, status, "createdAt")
    SELECT 'dlv_' || right(id, 24), "organizationId", id, channel, 1, '', destination, 'DELIVERED', "createdAt"
    FROM "Subscriber" WHERE "organizationId" = ${organizationId}`
  await prisma.$executeRaw`
    WITH log AS (UPDATE "Organization" SET "lastSeq" = "lastSeq" + ${EVENTS}::int WHERE id = ${organizationId} RETURNING "lastSeq")
    INSERT INTO "Event" ("organizationId", seq, kind, at, "actorKind", "subjectId", "subjectName")
    SELECT ${organizationId}, log."lastSeq" - each, 'INCIDENT_UPDATED', ${now}, 'SYSTEM', 'inc_0', 'An incident'
    FROM log, generate_series(0, ${EVENTS - 1}::int) AS each`
}

/** Gives all names, titles and addresses the maximum length. */
async function lengthenNames(prisma: PrismaClient, organizationId: string): Promise<void> {
  const words = ' of the northern region and everything that depends on it'
  for (const table of ['Service', 'Monitor', 'ApiKey']) {
    const name = `rpad(name, 100, '${words}')`
    await prisma.$executeRawUnsafe(`UPDATE "${table}" SET name = ${name} WHERE "organizationId" = $1`, organizationId)
  }
  await prisma.$executeRaw`
    UPDATE "Incident" SET title = rpad(title, 200, ${words}) WHERE "organizationId" = ${organizationId}`
  await prisma.$executeRaw`
    UPDATE "Subscriber" SET label = lpad(label, 254, 'reader.') WHERE "organizationId" = ${organizationId}`
  await prisma.$executeRaw`UPDATE "Delivery" SET destination = lpad(destination, 253, 'mail.') WHERE "organizationId" = ${organizationId}`
  await prisma.$executeRaw`UPDATE "User" SET name = rpad(name, 100, ${words}), email = lpad(email, 254, 'p.')`
  await prisma.$executeRaw`UPDATE "Event" SET "subjectName" = rpad("subjectName", 200, ${words})`
}

/** Writes members and keys. */
async function fillPeople(prisma: PrismaClient, organizationId: string, now: Date): Promise<void> {
  const users = Array.from({ length: PEOPLE }, (_, index) => ({
    ...{ id: newId('User'), email: `person-${index}@acme.example`, name: `Person ${index}`, createdAt: now },
  }))
  await prisma.user.createMany({ data: users })
  await prisma.membership.createMany({
    data: users.map(({ id: userId }) => ({ organizationId, userId, role: 'EDITOR' as const, createdAt: now })),
  })
  await prisma.apiKey.createMany({
    data: Array.from({ length: KEYS }, (_, index) => ({
      ...{ id: newId('ApiKey'), organizationId, name: `Key ${index}`, prefix: `ac_${index}`, hash: String(index) },
      ...{ scope: 'READ' as const, createdAt: now },
    })),
  })
}
