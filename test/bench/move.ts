import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, RequestError } from '../../src/client/index.ts'
import type { DnsServer } from '../../src/core/config.ts'
import { openDatabase } from '../../src/database/client.ts'
import { silent } from '../support/scratch.ts'
import { runAllclear } from './allclear.ts'
import { rowsOf } from './backup.ts'
import { ownDatabase } from './postgres.ts'
import { line, title, verdict } from './report.ts'
import { startService } from './service.ts'

/** Rows to move: probe results, the largest table. */
const ROWS = Number(process.env['ROWS'] ?? 1_000_000)
/** The number of rows per statement. */
const PART = 250_000
/** The wait after a refusal, in milliseconds. */
const PAUSE_MS = 200
/** How many of the 1,000 monitors with results are deleted. The workers delete their results during the move. */
const DELETED_MONITORS = 10
const SECRET_KEY = 'a secret key of the bench, long enough'

/**
 * (r) `allclear move` of a running service to PostgreSQL and back: seconds in total, seconds of downtime, and whether
 * every row of every table and every change that was made meanwhile has been moved.
 */
export async function move(dns: DnsServer): Promise<void> {
  title(`(r) Move to PostgreSQL and back with ${ROWS} rows`)
  const server = await ownDatabase()
  if (typeof server === 'string') return line(`left out: ${server}`)
  const directory = await mkdtemp(join(tmpdir(), 'allclear-bench-'))
  try {
    const embedded = { DATA_DIR: join(directory, 'data'), DATABASE_URL: '', SECRET_KEY }
    const onServer = { DATA_DIR: join(directory, 'server'), DATABASE_URL: server.url, SECRET_KEY }
    const back = { DATA_DIR: join(directory, 'back'), DATABASE_URL: '', SECRET_KEY }
    await fill(embedded)
    const first = await moveOnce(dns, embedded, server.url, onServer)
    const second = await moveOnce(dns, onServer, back.DATA_DIR, back)
    for (const [name, moved] of [
      ['to PostgreSQL', first],
      ['back', second],
    ] as const) {
      line(
        `${name}: ${moved.seconds.toFixed(1)} s in all, stopped for ${moved.stopped.toFixed(1)} s, ${moved.rows} rows in ${moved.tables} tables`,
      )
      line(
        `  ${moved.changes} changes were acknowledged meanwhile, ${moved.caughtUp} rows caught up with; the slowest took ${moved.slowest.toFixed(0)} ms, ${moved.refused} were to be sent again`,
      )
      verdict(`${name}: changes and tables’ counts that are missing`, moved.missing, { most: 0 })
      verdict(`${name}: seconds stopped`, moved.stopped, { most: 10 })
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
    await server.remove()
  }
}

type Place = Readonly<Record<'DATA_DIR' | 'DATABASE_URL' | 'SECRET_KEY', string>>

const open = ({ DATA_DIR, DATABASE_URL }: Place) =>
  openDatabase({ dataDir: DATA_DIR, databaseUrl: DATABASE_URL || undefined, log: silent, deadline: 600_000 })

/** Paused monitors, so that the bench measures the move and no probes. */
const monitors = `WITH owner AS (
    INSERT INTO "Organization" (id, slug, name, "contactEmail", "createdAt")
    VALUES ('org_moved', 'moved', 'Moved', 'a@b.example', now()) RETURNING id)
  INSERT INTO "Monitor" (id, "organizationId", name, kind, options, "intervalSeconds", "timeoutMs", "failureThreshold",
    "recoveryThreshold", state, "stateSince", "createdAt")
  SELECT 'mon_' || lpad(n::text, 22, '0'), owner.id, 'Site ' || n, 'TCP', '{"host": "a.example", "port": 443}', 60, 5000, 3, 2,
    'PAUSED', now(), now()
  FROM owner, generate_series(${DELETED_MONITORS}, 999) AS n`

async function fill(place: Place): Promise<void> {
  const database = await open(place)
  const begun = performance.now()
  await database.pool.query(monitors)
  for (let from = 0; from < ROWS; from += PART) {
    // In the order of the primary key, which fills its index three times as fast.
    await database.pool.query(`${rowsOf(Math.min(PART, ROWS - from), from)} ORDER BY 1, 2`)
  }
  line(`filled in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  await database.close()
}

interface Moved {
  readonly seconds: number
  /** Seconds from the service's stop signal until the command reported completion. */
  readonly stopped: number
  readonly rows: number
  readonly tables: number
  readonly changes: number
  readonly caughtUp: number
  /** The longest time of a change, in milliseconds. */
  readonly slowest: number
  /** The number of temporarily refused changes. */
  readonly refused: number
  /** Tables with another number of rows than the source had at its end, and missing changes. */
  readonly missing: number
}

/** The output of `allclear move --json`. */
interface Printed {
  readonly caughtUp: number
  readonly counts: Readonly<Record<string, number>>
}

/**
 * Moves a service that continuously creates organizations, stopping it when the command asks for that. Meanwhile its
 * workers delete the results of monitors that do not exist.
 */
async function moveOnce(dns: DnsServer, from: Place, to: string, place: Place): Promise<Moved> {
  const before = await countsOf(from)
  const service = await startService(dns, from.DATA_DIR, { ...from })
  const writer = startChanging(service.port)
  const begun = performance.now()
  let stoppedAt = Number.NaN
  let stopping: Promise<unknown> = Promise.resolve()
  const printed = await runAllclear(['move', '--to', to, '--json'], { ...from }, (text) => {
    line(`  ${((performance.now() - begun) / 1000).toFixed(1)} s: ${text}`)
    if (!text.startsWith('Stop the service now')) return
    stoppedAt = performance.now()
    stopping = writer.stop().then(() => service.stop())
  })
  const ended = performance.now()
  await stopping
  const { caughtUp, counts }: Printed = JSON.parse(printed)
  const after = await countsOf(place)
  const changes = writer.count()
  const wrong = Object.entries(counts).filter(([table, count]) => after.get(table) !== count)
  for (const [table, count] of wrong) line(`  ${table}: ${count} before, ${after.get(table)} after`)
  const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0)
  const lost = Math.max(0, (before.get('Organization') ?? 0) + changes - (after.get('Organization') ?? 0))
  return {
    seconds: (ended - begun) / 1000,
    stopped: (ended - stoppedAt) / 1000,
    rows: sum(after.values()),
    tables: after.size,
    changes,
    caughtUp,
    slowest: writer.slowest(),
    refused: writer.refused(),
    missing: wrong.length + lost,
  }
}

async function countsOf(place: Place): Promise<Map<string, number>> {
  const database = await open(place)
  const { rows } = await database.pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname <> '_prisma_migrations'`,
  )
  const counts = new Map<string, number>()
  for (const { name } of rows) {
    const found = await database.pool.query<{ count: number }>(`SELECT count(*)::int AS count FROM "${name}"`)
    counts.set(name, found.rows[0]?.count ?? 0)
  }
  await database.close()
  return counts
}

/** Creates one organization after another, as an operator does over GraphQL. */
function startChanging(port: number) {
  const client = createClient({ url: `http://127.0.0.1:${port}`, key: 'token-of-the-bench' })
  const query = `mutation ($slug: String!) { createOrganization(input: { name: "Moving", slug: $slug, contactEmail: "a@b.example" }) {
    __typename } }`
  const run = Date.now().toString(36)
  let count = 0
  let refused = 0
  let slowest = 0
  let isOver = false
  const changing = (async () => {
    while (!isOver) {
      const sent = performance.now()
      const slug = `moving-${run}-${count}-${refused}`
      const answer = await client
        .request<{ createOrganization: { __typename: string } }>(query, { slug })
        .catch((error: unknown) => {
          if (error instanceof RequestError && error.isTemporary) return null
          throw error
        })
      slowest = Math.max(slowest, performance.now() - sent)
      if (answer?.createOrganization.__typename === 'CreateOrganizationPayload') count += 1
      else refused += 1
      if (answer === null) await sleep(PAUSE_MS)
    }
  })()
  return {
    count: () => count,
    slowest: () => slowest,
    /** The number of changes refused temporarily, because the database did not answer. */
    refused: () => refused,
    async stop() {
      isOver = true
      await changing
    },
  }
}
