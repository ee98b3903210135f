import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { serveSnapshots } from '../../src/backup/snapshot.ts'
import type { DatabaseHandle } from '../../src/database/client.ts'
import { openDatabase } from '../../src/database/client.ts'
import { silent } from '../support/scratch.ts'
import { runAllclear } from './allclear.ts'
import { ownDatabase } from './postgres.ts'
import { line, title, verdict } from './report.ts'

/** Changes per second. */
const RATE = 1000
/** Existing rows. */
const ROWS = Number(process.env['ROWS'] ?? 300_000)
/** The maximum number of concurrent changes. */
const CONCURRENCY = 16
const WARM_MS = 2000
/** The time of the newest row. */
const START = new Date().toISOString()

/**
 * (q) `allclear backup` during 1,000 changes per second, on both databases, and `allclear restore`: how long they take,
 * how long a change waits meanwhile, and whether the backup has every change that was acknowledged before the command
 * began.
 */
export async function backup(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'allclear-bench-'))
  try {
    const [dataDir, place] = [join(directory, 'data'), join(directory, 'place')]
    title(`(q) Backup of the embedded database with ${ROWS} rows under ${RATE} changes a second`)
    await measure({
      directory,
      env: { DATA_DIR: dataDir, DATABASE_URL: '' },
      to: { DATA_DIR: place, DATABASE_URL: '' },
    })
    const [from, other] = [await ownDatabase(), await ownDatabase()]
    if (typeof from === 'string' || typeof other === 'string') return line(`PostgreSQL: left out: ${from}`)
    try {
      title(`(q) Backup of PostgreSQL with ${ROWS} rows under ${RATE} changes a second`)
      const [own, restored] = [join(directory, 'server'), join(directory, 'restored')]
      await measure({
        directory,
        env: { DATA_DIR: own, DATABASE_URL: from.url },
        to: { DATA_DIR: restored, DATABASE_URL: other.url },
      })
    } finally {
      await Promise.all([from.remove(), other.remove()])
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

interface Place {
  readonly DATA_DIR: string
  /** Empty: the embedded database. */
  readonly DATABASE_URL: string
}

interface Parts {
  readonly directory: string
  readonly env: Place
  readonly to: Place
}

async function measure({ directory, env, to }: Parts): Promise<void> {
  const database = await open(env)
  const end = env.DATABASE_URL === '' ? await serveSnapshots(env.DATA_DIR, database.pool, silent) : async () => {}
  await database.pool.query(rowsOf(ROWS))
  const writer = startWriting(database)
  await sleep(WARM_MS)
  const quiet = writer.waits()
  const mark = writer.acknowledged()
  const file = join(directory, `${env.DATABASE_URL === '' ? 'embedded' : 'server'}.backup`)
  const begun = performance.now()
  await runAllclear(['backup', file], { ...env })
  const seconds = (performance.now() - begun) / 1000
  const busy = writer.waits()
  const written = await writer.stop()
  await end()
  await database.close()

  const restoring = performance.now()
  await runAllclear(['restore', file], { ...to })
  const restoredIn = (performance.now() - restoring) / 1000
  const restored = await open(to)
  const { rows } = await restored.pool.query<{ number: number }>(
    `SELECT ("latencyMs")::int AS number FROM "ProbeResult" WHERE "monitorId" = 'mon_written'`,
  )
  const total = await restored.pool.query<{ count: number }>(`SELECT count(*)::int AS count FROM "ProbeResult"`)
  await restored.close()
  const there = new Set(rows.map(({ number }) => number))
  const missing = mark.filter((number) => !there.has(number)).length

  const megabytes = (await stat(file)).size / 1e6
  line(`backup: ${seconds.toFixed(1)} s, ${megabytes.toFixed(1)} MB; restore: ${restoredIn.toFixed(1)} s`)
  line(`changes: ${written} in all, ${busy.perSecond.toFixed(0)}/s meanwhile; ${mark.length} before the mark`)
  line(`a change waited at most ${quiet.most.toFixed(0)} ms before, ${busy.most.toFixed(0)} ms meanwhile`)
  line(`restored: ${total.rows[0]?.count} results, ${there.size} of the changes`)
  verdict('changes acknowledged before the mark that are missing', missing, { most: 0 })
  verdict('rows from before that are missing', ROWS - ((total.rows[0]?.count ?? 0) - there.size), { most: 0 })
  verdict('the longest wait of a change, in seconds', busy.most / 1000, { most: 1 })
}

const open = ({ DATA_DIR, DATABASE_URL }: Place) =>
  openDatabase({ dataDir: DATA_DIR, databaseUrl: DATABASE_URL || undefined, log: silent })

/**
 * Returns a statement that adds results of a thousand monitors, one every five seconds. @param first the number of the
 * first.
 */
export function rowsOf(count: number, first = 0): string {
  return `INSERT INTO "ProbeResult" ("monitorId", at, region, outcome, "latencyMs", message)
    SELECT 'mon_' || lpad((n % 1000)::text, 22, '0'), '${START}'::timestamptz - (n / 1000) * interval '5 seconds',
      'local', 'UP', n % 500, 'HTTP 200'
    FROM generate_series(${first}, ${first + count - 1}) AS n`
}

interface Writer {
  /** The numbers of all acknowledged changes. */
  acknowledged(): number[]
  /** The longest wait since the previous call, in milliseconds, and the changes per second. */
  waits(): { readonly most: number; readonly perSecond: number }
  /** Returns the number of changes. */
  stop(): Promise<number>
}

/** Writes rows, one per statement, at the rate. */
function startWriting({ pool }: Pick<DatabaseHandle, 'pool'>): Writer {
  const done: number[] = []
  let isOver = false
  let next = 0
  let most = 0
  let since = { at: performance.now(), count: 0 }
  const begun = performance.now()
  const write = async () => {
    while (!isOver) {
      const number = next
      // Never exceeds the rate; if behind, catches up as fast as possible.
      const due = begun + (number / RATE) * 1000
      if (due > performance.now()) {
        await sleep(1)
        continue
      }
      next += 1
      const sent = performance.now()
      await pool.query(
        `INSERT INTO "ProbeResult" ("monitorId", at, region, outcome, "latencyMs", message)
         VALUES ('mon_written', now() + $1 * interval '1 millisecond', $2, 'UP', $1, 'A change')`,
        [number, `r${number}`],
      )
      most = Math.max(most, performance.now() - sent)
      done.push(number)
    }
  }
  const writing = Promise.all(Array.from({ length: CONCURRENCY }, write))
  return {
    acknowledged: () => [...done],
    waits() {
      const now = performance.now()
      const perSecond = ((done.length - since.count) * 1000) / (now - since.at)
      const waits = { most, perSecond }
      since = { at: now, count: done.length }
      most = 0
      return waits
    },
    async stop() {
      isOver = true
      await writing
      return done.length
    },
  }
}
