import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import type { DnsServer } from '../../src/core/config.ts'
import { readConfig } from '../../src/core/config.ts'
import { newId } from '../../src/core/id.ts'
import { openSecretBox } from '../../src/core/secret-box.ts'
import { createMetrics } from '../../src/core/telemetry/metrics.ts'
import { type DatabaseHandle, openDatabase } from '../../src/database/client.ts'
import { readOptions, sealOptions } from '../../src/monitoring/monitor/options.ts'
import { watchId } from '../../src/monitoring/monitor/watches.ts'
import { probeResult } from '../../src/monitoring/result/probe-result.ts'
import { createResultWriter } from '../../src/monitoring/result/result-writer.ts'
import { readWatches } from '../../src/monitoring/watch/due-watch.ts'
import { nextSlot } from '../../src/monitoring/watch/next-due.ts'
import { open } from '../support/private-targets.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import { ownDatabase } from './postgres.ts'
import { line, title, verdict } from './report.ts'
import { request, type Service, startNode, startService, stopNode } from './service.ts'

const monitors = 10_000
const interval = 30
const measured = 60
const warmUp = 2 * interval
/** The first probes are due after so many seconds, when the service runs. */
const head = 30
const secret = 'the secret key of the bench, which is long'

/**
 * (g) Probes of 10,000 HTTP monitors every 30 s: how late they begin, and what they cost; then the rate of stored
 * results.
 */
export async function monitoring(dns: DnsServer): Promise<void> {
  const target = startNode('dist/http-target.js', [], {})
  const [port] = (await once(target, 'message')) as [number]
  try {
    await embedded(dns, port)
    await onServer(dns, port)
  } finally {
    await stopNode(target)
  }
  await rateOfResults()
}

async function embedded(dns: DnsServer, port: number): Promise<void> {
  title(`(g) ${reported}, one process, the embedded database, ${measured} s`)
  const disk = await temporaryDirectory()
  await fill({ dataDir: disk.path, databaseUrl: undefined }, port)
  await measure([() => startService(dns, disk.path, settings)])
  await disk.remove()
}

async function onServer(dns: DnsServer, port: number): Promise<void> {
  const database = await ownDatabase()
  if (typeof database === 'string') return title(`(g) ${reported}, two workers on PostgreSQL: skipped (${database})`)
  title(`(g) ${reported}, two workers on PostgreSQL, ${measured} s`)
  const disk = await temporaryDirectory()
  await fill({ dataDir: disk.path, databaseUrl: database.url }, port)
  const worker = () => startService(dns, disk.path, { ...settings, DATABASE_URL: database.url, ROLE: 'worker' })
  await measure([worker, worker])
  await database.remove()
  await disk.remove()
}

const reported = `${monitors.toLocaleString('en')} HTTP monitors every ${interval} s`
const settings = { ALLOW_PRIVATE_NETWORKS: 'true', SECRET_KEY: secret }

async function measure(starts: readonly (() => Promise<Service>)[]): Promise<void> {
  const services: Service[] = []
  for (const start of starts) services.push(await start())
  try {
    await sleep(warmUp * 1000)
    const before = await Promise.all(services.map(figuresOf))
    await sleep(measured * 1000)
    const after = await Promise.all(services.map(figuresOf))
    const lateness = new Map<number, number>()
    for (const [index, { buckets }] of after.entries()) {
      for (const [le, count] of buckets) {
        lateness.set(le, (lateness.get(le) ?? 0) + count - (before[index]?.buckets.get(le) ?? 0))
      }
    }
    const checks = lateness.get(Number.POSITIVE_INFINITY) ?? 0
    line(`checks: ${(checks / measured).toFixed(0)} a second, of ${(monitors / interval).toFixed(0)} wanted`)
    for (const [index, { cpu, rss }] of after.entries()) {
      const share = (cpu - (before[index]?.cpu ?? 0)) / measured
      line(`process ${index + 1}: ${(100 * share).toFixed(0)} % of a processor, ${(rss / 1e6).toFixed(0)} MB resident`)
    }
    line(`lost results: ${after.reduce((sum, { lost }) => sum + lost, 0)}`)
    verdict('checks made, of those wanted', checks / measured / (monitors / interval), { least: 0.98 })
    verdict('median lateness in seconds', quantileOf(lateness, 0.5), { most: 1 })
    verdict('99th percentile of lateness in seconds', quantileOf(lateness, 0.99), { most: 1 })
  } finally {
    for (const service of services) await service.stop()
  }
}

interface Figures {
  /** Probes that began at most so many seconds late. */
  readonly buckets: ReadonlyMap<number, number>
  readonly cpu: number
  readonly rss: number
  readonly lost: number
}

async function figuresOf({ port, pid }: Service): Promise<Figures> {
  const text = (await request(port, '/metrics')).body.toString()
  const number = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
  const buckets = [...text.matchAll(/^allclear_check_lateness_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm)]
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return {
    buckets: new Map(
      buckets.map(([, le, count]) => [le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), Number(count)]),
    ),
    cpu: number('process_cpu_seconds_total'),
    rss: 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0),
    lost: number('allclear_results_lost_total'),
  }
}

/** The quantile as Prometheus' histogram_quantile computes it: linear within buckets. */
function quantileOf(buckets: ReadonlyMap<number, number>, q: number): number {
  const sorted = [...buckets].sort(([one], [other]) => one - other)
  const rank = q * (sorted.at(-1)?.[1] ?? 0)
  let [low, below] = [0, 0]
  for (const [le, count] of sorted) {
    if (count >= rank)
      return le === Number.POSITIVE_INFINITY ? low : low + ((le - low) * (rank - below)) / (count - below || 1)
    ;[low, below] = [le, count]
  }
  return low
}

/**
 * Fills a database with organizations of 500 monitors each, spread over their interval, as in a service that has run
 * for a while.
 */
async function fill(where: { dataDir: string; databaseUrl: string | undefined }, port: number): Promise<string[]> {
  const database = await openDatabase({ ...where, log })
  const begun = Date.now()
  const ids = await addMonitors(database, where.dataDir, monitors, port)
  // On a slow machine, the first would be due, and stale, before the service starts.
  const late = `"dueAt" = "dueAt" + $1 * interval '1 millisecond', "lastKnownAt" = now()`
  await database.pool.query(`UPDATE "Watch" SET ${late}`, [Date.now() - begun])
  await database.pool.query('VACUUM ANALYZE')
  await database.close()
  return ids
}

const log = pino({ level: 'silent' })

async function addMonitors({ prisma: db }: DatabaseHandle, dataDir: string, count: number, port: number) {
  const config = readConfig({ ...settings, DATA_DIR: dataDir })
  const seal = await openSecretBox({ config, db })
  const configuration = readOptions(open, { http: { url: `http://127.0.0.1:${port}/health` } })
  const now = new Date()
  const begin = new Date(now.getTime() + head * 1000)
  const watches: string[] = []
  for (let first = 0; first < count; first += 500) {
    const organizationId = newId('Organization')
    const organization = {
      id: organizationId,
      slug: `bench-${first}`,
      name: 'Bench',
      contactEmail: 'ops@bench.example',
    }
    await db.organization.create({ data: { ...organization, tier: 'TEAM', createdAt: now } })
    const rows = Array.from({ length: Math.min(500, count - first) }, (_, index) => {
      const id = newId('Monitor')
      return {
        id,
        organizationId,
        name: `Monitor ${first + index}`,
        kind: configuration.kind,
        options: sealOptions(seal, id, configuration),
        intervalSeconds: interval,
        timeoutMs: 10_000,
        failureThreshold: 2,
        recoveryThreshold: 1,
        state: 'UP' as const,
        stateSince: now,
        createdAt: now,
      }
    })
    await db.monitor.createMany({ data: rows })
    await db.watch.createMany({
      data: rows.map(({ id }) => {
        const ours = watchId(id, 'local')
        watches.push(ours)
        return {
          id: ours,
          monitorId: id,
          region: 'local',
          dueAt: nextSlot(ours, interval, begin),
          state: 'UP' as const,
          stateSince: now,
        }
      }),
    })
  }
  return watches
}

const rounds = 20
const perRound = 500

/** The rate at which the result writer stores results, beside that of the bare insert of the same rows. */
async function rateOfResults(): Promise<void> {
  title(`(g) Results stored by the result writer, ${rounds} times ${perRound}, beside a bare insert of the same rows`)
  const disk = await temporaryDirectory()
  const embeddedOne = await openDatabase({ dataDir: disk.path, databaseUrl: undefined, log })
  await compare('the embedded database', embeddedOne, disk.path).finally(() => embeddedOne.close())
  const own = await ownDatabase()
  if (typeof own === 'string') return line(`PostgreSQL: skipped (${own})`)
  const server = await openDatabase({ dataDir: disk.path, databaseUrl: own.url, log })
  await compare('PostgreSQL', server, disk.path).finally(() => server.close())
  await own.remove()
  await disk.remove()
}

async function compare(where: string, database: DatabaseHandle, dataDir: string): Promise<void> {
  const ids = await addMonitors(database, dataDir, perRound, 80)
  const { pool } = database
  let time = Date.now()
  const now = () => new Date(time)
  const finding = probeResult('UP', 'HTTP 200 after 12 ms.', { latencyMs: 12, detail: { status: 200 } })
  const resultWriter = createResultWriter({
    db: database.prisma,
    reconcile: async () => {},
    metrics: createMetrics(),
    now,
    log,
    gatherMs: 0,
  })
  const recorded: number[] = []
  const bare: number[] = []
  for (let round = 0; round < rounds; round++) {
    time += interval * 1000
    const watches = await readWatches(pool, ids)
    const begun = performance.now()
    await Promise.all(watches.map((watch) => resultWriter.record(watch, { at: now(), result: finding })))
    recorded.push(performance.now() - begun)
    await pool.query(`CREATE TABLE IF NOT EXISTS "Bare" (LIKE "ProbeResult" INCLUDING ALL)`)
    const rows = watches.map(({ monitor }) => ({ monitorId: monitor.id, at: now(), region: 'local', ...finding }))
    const inserting = performance.now()
    await pool.query({ name: 'bare insert', text: BARE, values: [JSON.stringify(rows)] })
    bare.push(performance.now() - inserting)
  }
  const rate = (times: readonly number[]) =>
    (1000 * perRound * times.length) / times.reduce((sum, each) => sum + each, 0)
  line(`${where}: ${rate(recorded).toFixed(0)} results a second; bare: ${rate(bare).toFixed(0)}`)
  verdict(`${where}: stored results, of bare rows`, rate(recorded) / rate(bare), { least: 0.1 })
}

const BARE = `
  INSERT INTO "Bare" SELECT "monitorId", "at", region, outcome, "latencyMs", message, detail
  FROM jsonb_to_recordset($1::jsonb) AS result ("monitorId" text, "at" timestamptz, region text, outcome "ProbeOutcome",
    "latencyMs" int, message text, detail jsonb)`
