import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import pino from 'pino'
import { openDatabase } from '../../src/database/client.ts'
import { clusterMissing, startCluster } from '../support/postgres-cluster.ts'
import { line, title, verdict } from './report.ts'
import { startNode } from './service.ts'

const monitors = Number(process.env['MONITORS'] ?? 100_000)
const workers = (process.env['WORKERS'] ?? '1,2,4').split(',').map(Number)
/** Seconds between probes of a monitor. */
const interval = 60
/** Seconds. The first probes are at random times, and each is followed by one at the slot of its watch. */
const [warmUp, measured] = [45, 30]
/** The length of a tick of the kernel's counters of processor time, in milliseconds (`getconf CLK_TCK`). */
const TICK_MS = 10

/**
 * (m) Watches of 100,000 monitors every 60 s on one PostgreSQL, claimed and stored by 1, 2 and 4 workers whose probes
 * answer at once: results a second, how late they begin, and what a result costs. MONITORS and WORKERS change the numbers.
 */
export async function manyMonitors(): Promise<void> {
  if (clusterMissing !== null) return title(`(m) Many monitors: skipped (${clusterMissing})`)
  title(`(m) ${monitors.toLocaleString('en')} monitors every ${interval} s on PostgreSQL, ${measured} s each`)
  const cluster = await startCluster()
  try {
    const database = await openDatabase({ dataDir: '', databaseUrl: cluster.url, log: pino({ level: 'silent' }) })
    await database.close()
    const client = new pg.Client(cluster.url)
    await client.connect()
    await fill(client)
    const rates: number[] = []
    for (const count of workers) rates.push(await measure({ ...cluster, client }, count))
    const fewer = rates.slice(0, -1)
    if (fewer.length > 0)
      verdict('results/s of most workers / of fewer', (rates.at(-1) ?? 0) / Math.max(...fewer), { least: 1 })
    await client.end()
  } finally {
    await cluster.close()
  }
}

async function fill(client: pg.Client): Promise<void> {
  const tenants = Math.ceil(monitors / 500)
  await client.query(
    `INSERT INTO "Organization" (id, slug, name, "contactEmail", tier, "createdAt")
     SELECT 'org_' || n, 'bench-' || n, 'Bench', 'a@b.example', 'TEAM', now() FROM generate_series(0, $1::int - 1) n`,
    [tenants],
  )
  await client.query(
    `INSERT INTO "Monitor" (id, "organizationId", name, kind, options, "intervalSeconds", "timeoutMs", "failureThreshold", "recoveryThreshold", state, "stateSince", "createdAt")
     SELECT 'mon_' || md5(n::text), 'org_' || n / 500, 'Monitor ' || n, 'HTTP', '{}', $2, 10000, 2, 1, 'UP', now(), now()
     FROM generate_series(0, $1::int - 1) n`,
    [monitors, interval],
  )
  await client.query(
    `INSERT INTO "Watch" (id, "monitorId", region, "dueAt", state, "stateSince", "lastKnownAt")
     SELECT id || '@local', id, 'local', now(), 'UP', now(), now() FROM "Monitor"`,
  )
}

interface Cluster {
  readonly url: string
  readonly pid: () => number
  readonly client: pg.Client
}

/** Runs so many workers, prints what they do, and returns the results a second. */
async function measure(cluster: Cluster, count: number): Promise<number> {
  const { client } = cluster
  await client.query(
    `UPDATE "Watch" SET "lastKnownAt" = now(), "dueAt" = now() + random() * $1 * interval '1 second'`,
    [interval],
  )
  await client.query('VACUUM ANALYZE')
  await client.query('CHECKPOINT')
  const running = await Promise.all(Array.from({ length: count }, () => startWorker(cluster.url)))
  try {
    await sleep(warmUp * 1000)
    await Promise.all(running.map(figuresOf))
    const before = await readCounts(cluster)
    await sleep(measured * 1000)
    const after = await readCounts(cluster)
    const figures = await Promise.all(running.map(figuresOf))
    return print(count, figures, before, after)
  } finally {
    await Promise.all(running.map(stop))
  }
}

async function startWorker(url: string): Promise<ChildProcess> {
  const worker = startNode('dist/monitors-worker.js', ['--v8-pool-size=1'], { DATABASE_URL: url })
  await once(worker, 'message')
  return worker
}

async function stop(worker: ChildProcess): Promise<void> {
  const exited = once(worker, 'exit')
  worker.send('stop')
  await exited
}

interface Figures {
  readonly late: readonly number[]
  readonly cpuMs: number
}

async function figuresOf(worker: ChildProcess): Promise<Figures> {
  worker.send('figures')
  const [figures] = (await once(worker, 'message')) as [Figures]
  return figures
}

async function readCounts({ client, pid }: Cluster) {
  const { rows } = await client.query<Record<string, number>>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS wal,
       (SELECT xact_commit::float8 FROM pg_stat_database WHERE datname = current_database()) AS commits,
       (SELECT count(*)::float8 FROM "ProbeResult") AS results, pg_total_relation_size('"ProbeResult"')::float8 AS bytes,
       n_tup_upd::float8 AS updates, n_tup_hot_upd::float8 AS hot
     FROM pg_stat_user_tables WHERE relname = 'Watch'`,
  )
  const at = performance.now()
  return {
    at,
    cpuMs: processorTime(pid()),
    ...(rows[0] as Record<'wal' | 'commits' | 'results' | 'bytes' | 'updates' | 'hot', number>),
  }
}

/** Milliseconds of processor time of a process and its children, ended ones included (proc(5)). */
function processorTime(pid: number): number {
  let ticks = 0
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const [, , ...fields] = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^(\d+) \(.*\) /, '$1 x ')
        .split(' ')
      const isOwn = Number(name) === pid
      if (!isOwn && Number(fields[1]) !== pid) continue
      const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number)
      ticks += (user ?? 0) + (system ?? 0) + (isOwn ? (endedUser ?? 0) + (endedSystem ?? 0) : 0)
    } catch {
      // It has ended.
    }
  }
  return ticks * TICK_MS
}

type Counts = Awaited<ReturnType<typeof readCounts>>

function print(count: number, figures: readonly Figures[], before: Counts, after: Counts): number {
  const results = after.results - before.results
  const perSecond = results / ((after.at - before.at) / 1000)
  const late = figures.flatMap((each) => each.late).sort((one, other) => one - other)
  const p99 = late[Math.floor(late.length * 0.99)] ?? Number.NaN
  const cpu = figures.reduce((sum, each) => sum + each.cpuMs, 0)
  const each = (value: number, digits = 0) => (value / results).toFixed(digits)
  line(
    `${count} ${count === 1 ? 'worker' : 'workers'}: ${perSecond.toFixed(0)} results/s of ${(monitors / interval).toFixed(0)}, p99 ${p99.toFixed(1)} s late`,
  )
  line(
    `  a result: ${each(cpu, 2)} ms of workers, ${each(after.cpuMs - before.cpuMs, 2)} ms of PostgreSQL, ${each(after.wal - before.wal)} bytes of WAL, ${each(after.bytes - before.bytes)} bytes stored, ${each(after.commits - before.commits, 3)} transactions`,
  )
  line(
    `  ${(((after.hot - before.hot) / (after.updates - before.updates)) * 100).toFixed(1)} % of the updates of Watch are HOT`,
  )
  if (count !== Math.max(...workers)) return perSecond
  verdict(`${count} workers: results, of those due`, perSecond / (monitors / interval), { least: 0.98 })
  verdict(`${count} workers: seconds late, p99`, p99, { most: 2 })
  return perSecond
}
