import { chmod } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { expect } from 'vitest'
import { MINUTE, SECOND } from '../../src/core/time.ts'
import { openDatabase } from '../../src/database/client.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { rcodes, startDnsServer } from '../support/dns-server.ts'
import { mutate } from '../support/filled-organization.ts'
import { newOrganization, post } from '../support/graphql-client.ts'
import { type Cluster, startCluster } from '../support/postgres-cluster.ts'
import { type ServiceProcess, startService } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { silent, temporaryDirectory } from '../support/scratch.ts'
import { clockSettings, setClock } from './faked-clock.ts'

type Role = 'all' | 'web' | 'worker'

/** The parts of the system that a case can disturb. */
export interface Victims {
  readonly proxy: DatabaseProxy
  readonly cluster: Cluster
  /** Kills an instance as `kill -9` does, and starts it again. */
  restart(role: Role): Promise<void>
  signal(role: Role, name: NodeJS.Signals): void
  /** Sets the clock of the instance that is only a worker so many seconds ahead; only where clocks can be faked. */
  setWorkerClock(seconds: number): Promise<void>
  /** Lets the receiver of deliveries refuse them for now, or accept them again. */
  refuseDeliveries(isRefusing: boolean): void
}

export interface ChaosCase {
  readonly name: string
  /** Causes the failure, and ends it unless it ends without help. */
  readonly cause: (victims: Victims) => Promise<void>
}

/** The time within which everything works again after the failure, in milliseconds. */
const RECOVERY = 30 * SECOND
const MONITORS = 20

/**
 * Runs cases one after the other against three instances on a separate server, during writes, probes and deliveries;
 * counts what is lost, duplicated and late, and prints it.
 */
export async function runChaos(cases: readonly ChaosCase[]): Promise<void> {
  await chmod(tmpdir(), 0o711)
  const cluster = await startCluster()
  const database = await openDatabase({ dataDir: '', databaseUrl: cluster.url, log: silent })
  const proxy = await startDatabaseProxy(cluster.url)
  const dns = await startDnsServer(() => ({ rcode: rcodes.nxdomain }))
  const disk = await temporaryDirectory()
  const receiver = await startReceiver()
  const target = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1')
  await new Promise((resolve) => target.once('listening', resolve))
  const { port } = target.address() as AddressInfo

  const clock = `${disk.path}/clock`
  await setClock(clock, 0)
  const start = (role: Role): ServiceProcess =>
    startService(dns, {
      DATABASE_URL: proxy.url,
      DATA_DIR: `${disk.path}/${role}`,
      SECRET_KEY: 'the key of three instances that suffer',
      ROLE: role,
      ALLOW_PRIVATE_NETWORKS: 'true',
      LOG_LEVEL: 'info',
      ...(role === 'worker' && clockSettings(clock)),
    })
  const services: Record<Role, ServiceProcess> = { all: start('all'), web: start('web'), worker: start('worker') }
  const urls: Record<Role, string> = { all: '', web: '', worker: '' }
  for (const role of ['all', 'web', 'worker'] as const) urls[role] = await services[role].ready()

  const { id, slug, key } = await newOrganization(urls.all)
  const incident = await mutate(urls.all, key, 'createIncident', 'Incident', {
    title: 'Chaos',
    status: 'INVESTIGATING',
    impact: 'MINOR',
    message: 'It begins.',
    services: [],
  })
  await mutate(
    urls.all,
    key,
    'subscribe',
    'SubscribePayload',
    { slug, address: { webhook: `${receiver.url}/hook` } },
    'message',
  )
  await database.prisma.organization.update({ where: { id }, data: { tier: 'TEAM' } })
  const http = { url: `http://127.0.0.1:${port}/` }
  for (let number = 0; number < MONITORS; number += 1) {
    await mutate(urls.all, key, 'createMonitor', 'Monitor', {
      name: `M${number}`,
      intervalSeconds: 10,
      probe: { http },
    })
  }

  const accepted: string[] = []
  const acceptedAt = new Map<string, number>()
  const toldAt = new Map<string, number>()
  let isRefusing = false
  const reported = new Map<string, number>()
  receiver.answer = ({ body, headers }) => {
    if (isRefusing) return { status: 503 }
    const messageId = String(headers['webhook-id'])
    reported.set(messageId, (reported.get(messageId) ?? 0) + 1)
    const { data } = JSON.parse(body) as { data?: { incident?: { message?: string } } }
    const message = data?.incident?.message ?? ''
    if (!toldAt.has(message)) toldAt.set(message, performance.now())
    return { status: 200 }
  }
  let checks = 0
  let running = true
  async function write(role: Role): Promise<void> {
    for (let number = 0; running; number += 1) {
      const message = `${role} ${number}`
      const query = `mutation ($input: PostIncidentUpdateInput!) { postIncidentUpdate(input: $input) { __typename } }`
      const input = { incidentId: incident.id, status: 'MONITORING', message }
      const result = await post(urls[role], { query, key, variables: { input } }).catch(() => null)
      if (result?.data?.['postIncidentUpdate']) {
        accepted.push(message)
        acceptedAt.set(message, performance.now())
      }
      const checked = await fetch(`${urls[role]}/api/blacklist-monitor/ip?target=192.0.2.1`).catch(() => null)
      if (checked?.status === 200) checks += 1
      await sleep(700)
    }
  }
  const writers = [write('all'), write('web')]

  /** Returns how long it takes from a moment on until results are stored and every instance is ready. */
  async function recovered(): Promise<number> {
    const begun = performance.now()
    const since = new Date()
    while (performance.now() - begun < 4 * RECOVERY) {
      const probed = await database.prisma.probeResult
        // Rows written by a clock that was ahead do not prove that it works.
        .findMany({
          where: { at: { gt: since, lt: new Date(since.getTime() + 10 * MINUTE) } },
          distinct: ['monitorId'],
          select: { monitorId: true },
        })
        .catch(() => [])
      const ready = await Promise.all(
        Object.values(urls).map((url) =>
          fetch(`${url}/readyz?for=writes`).then(
            ({ ok }) => ok,
            () => false,
          ),
        ),
      )
      if (probed.length === MONITORS && ready.every(Boolean)) return performance.now() - begun
      await sleep(250)
    }
    return Number.POSITIVE_INFINITY
  }

  const victims: Victims = {
    proxy,
    cluster,
    async restart(role) {
      services[role].signal('SIGKILL')
      await services[role].ended
      services[role] = start(role)
      urls[role] = await services[role].ready()
    },
    signal: (role, name) => services[role].signal(name),
    setWorkerClock: (seconds) => setClock(clock, seconds),
    refuseDeliveries(refusing) {
      isRefusing = refusing
    },
  }
  const rows: { readonly case: string; readonly 'recovered after (s)': number }[] = []
  await recovered()
  for (const { name, cause } of cases) {
    await cause(victims)
    // Every monitor is probed every ten seconds, which is not a delay.
    rows.push({ case: name, 'recovered after (s)': Math.round((await recovered()) / 100) / 10 })
  }

  running = false
  await Promise.all(writers)
  const { prisma } = database
  const events = await prisma.event.findMany({ where: { organizationId: id }, orderBy: { seq: 'asc' } })
  const updates = await prisma.incidentUpdate.findMany({
    where: { incidentId: incident.id },
    select: { message: true },
  })
  const stored = new Map<string, number>()
  for (const { message } of updates) stored.set(message, (stored.get(message) ?? 0) + 1)
  const end = performance.now() + 150 * SECOND
  const pending = () => prisma.delivery.count({ where: { organizationId: id, status: 'PENDING' } })
  while ((await pending()) > 0 && performance.now() < end) await sleep(500)
  const waiting = await waitingRows(database.pool)
  const made = await prisma.delivery.findMany({ where: { organizationId: id }, select: { id: true } })
  const counted = await prisma.usageCounter.aggregate({ _sum: { count: true } })
  const delays = accepted.map((message) => (toldAt.get(message) ?? 0) - (acceptedAt.get(message) ?? 0))
  const tally = {
    'writes accepted': accepted.length,
    'writes lost': accepted.filter((message) => !stored.has(message)).length,
    'writes doubled': [...stored.values()].filter((times) => times > 1).length,
    'gaps in the log': events.filter(({ seq }, index) => seq !== index + 1).length,
    deliveries: made.length,
    'deliveries lost': made.filter(({ id: message }) => !reported.has(message)).length,
    'longest delay (s)': Math.round(Math.max(0, ...delays) / SECOND),
    'deliveries later than 2 min': delays.filter((delay) => delay > 2 * MINUTE).length,
    'deliveries sent twice': [...reported.values()].filter((times) => times > 1).length,
    'checks answered': checks,
    'checks counted too few': Math.max(0, checks - (counted._sum.count ?? 0)),
  }
  process.stdout.write(`\n${table(rows)}\n\n${table([tally])}\n`)
  if (waiting.length > 0) process.stdout.write(`\nThese deliveries wait:\n${table(waiting)}\n`)

  for (const service of Object.values(services)) service.signal('SIGTERM')
  const codes = await Promise.all(Object.values(services).map(({ ended }) => ended))
  await proxy.close()
  await database.close()
  await dns.close()
  await receiver.close()
  target.close()
  await cluster.close()
  await disk.remove()

  expect(codes.map(({ code }) => code)).toEqual([0, 0, 0])
  // The table has the figures. A busy machine is slow, but must recover too.
  expect(rows.filter((row) => row['recovered after (s)'] > (2 * RECOVERY) / SECOND)).toEqual([])
  expect(tally).toMatchObject({
    'writes lost': 0,
    'writes doubled': 0,
    'gaps in the log': 0,
    'deliveries lost': 0,
    'deliveries later than 2 min': 0,
    'checks counted too few': 0,
  })
}

/** How many waiting deliveries are printed. */
const SHOWN = 20

/** Returns the first deliveries that wait, and what each waits for, by the clock of the database. */
async function waitingRows(pool: pg.Pool): Promise<Record<string, string | number>[]> {
  const { rows } = await pool.query<Record<string, string | number>>(
    `SELECT id, channel::text AS kind, seq, status::text AS state, jsonb_array_length(attempts) AS attempts,
       coalesce(attempts -> -1 ->> 'message', '') AS "last attempt",
       extract(epoch FROM "dueAt" - clock_timestamp())::int AS "due or leased for (s)",
       extract(epoch FROM "createdAt" - clock_timestamp())::int AS "created (s)",
       coalesce("deferredUntil"::text, '') AS "deferred until", clock_timestamp()::text AS "clock of the database"
     FROM "Delivery" WHERE status = 'PENDING' ORDER BY seq LIMIT ${SHOWN}`,
  )
  return rows
}

/** Formats rows as a table with headings. */
function table(rows: readonly Readonly<Record<string, string | number>>[]): string {
  const headings = Object.keys(rows[0] ?? {})
  const lines = [headings, ...rows.map((row) => headings.map((heading) => String(row[heading])))]
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n')
}
