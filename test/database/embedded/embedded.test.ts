// @slow
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { newId } from '../../../src/core/id.ts'
import { type DatabaseHandle, openDatabase } from '../../../src/database/client.ts'
import { vacuum } from '../../../src/database/embedded/vacuum.ts'
import { startChild } from '../../support/child.ts'
import { copyDataDir, serverUrl } from '../../support/database.ts'
import { silent, temporaryDirectory } from '../../support/scratch.ts'

describe.skipIf(serverUrl !== undefined)('the embedded database', () => {
  let dataDir: string
  let remove: () => Promise<void>
  beforeEach(async () => {
    const temporary = await temporaryDirectory()
    dataDir = join(temporary.path, 'data')
    remove = temporary.remove
  })
  afterEach(() => remove())

  const open = () => openDatabase({ dataDir, databaseUrl: undefined, log: silent })
  const openCopy = async () => {
    copyDataDir(inject('databaseTemplate'), dataDir)
    return open()
  }
  const startHolder = (task = 'hold') => startChild('database-child', [task, dataDir])

  test('is created again after a crash during its creation', async () => {
    await mkdir(join(dataDir, 'database.unfinished'), { recursive: true })
    await writeFile(join(dataDir, 'database.unfinished', 'PG_VERSION'), '')
    const database = await open()
    await database.close()
    expect(await readdir(dataDir)).toEqual(['database'])
    expect((await stat(join(dataDir, 'database'))).mode & 0o077).toBe(0)
  })

  test('keeps its data, and can be closed repeatedly', async () => {
    const first = await openCopy()
    await first.pool.query('CREATE TABLE kept AS SELECT 1 AS one')
    await Promise.all([first.close(), first.close()])
    expect(await readdir(dataDir)).toEqual(['database'])
    const second = await open()
    expect((await second.pool.query('SELECT one FROM kept')).rows).toEqual([{ one: 1 }])
    await second.close()
  })

  test('yields to the event loop between quick statements with large results', async () => {
    const database = await openCopy()
    let inTurn = 0
    let most = 0
    const turn = setInterval(() => (inTurn = 0), 0)
    const chain = async () => {
      for (let count = 0; count < 100; count++) {
        await database.pool.query('SELECT 1')
        inTurn += 1
        most = Math.max(most, inTurn)
        const begun = performance.now()
        while (performance.now() - begun < 2);
      }
    }
    await Promise.all([chain(), chain()])
    clearInterval(turn)
    await database.close()
    expect(most).toBeLessThan(20)
  })

  test('is locked against a second process and taken over from a killed one', async () => {
    copyDataDir(inject('databaseTemplate'), dataDir)
    const first = startHolder()
    expect(await first.line()).toBe('open')
    await expect(open()).rejects.toThrow(`${dataDir} is in use by process ${first.pid}.`)
    const second = startHolder()
    expect(await second.line()).toContain(`is in use by process ${first.pid}.`)
    expect(await second.line()).toBe(null)
    await first.kill()
    const third = await open()
    await third.close()
  })

  test('rejects the directory of another version, and unlocks it', async () => {
    await mkdir(join(dataDir, 'database'), { recursive: true })
    await writeFile(join(dataDir, 'database', 'PG_VERSION'), '9')
    await expect(open()).rejects.toThrow(`Could not open the embedded database in ${dataDir}: `)
    await rm(join(dataDir, 'database'), { recursive: true })
    expect(await readdir(dataDir)).toEqual([])
  })

  test('that cannot continue fails current and later statements, and reports the failure', async () => {
    const { pool, failure, close } = await openCopy()
    const stopped = 'The embedded database has stopped: '
    await rm(join(dataDir, 'database', 'pg_wal'), { recursive: true })
    await pool.query('SELECT pg_switch_wal()').catch(() => {})
    await pool.query('CREATE TABLE needs_the_log ()').catch(() => {})
    expect((await failure).message).toContain(stopped)
    await expect(pool.query('SELECT 1')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      cause: { message: expect.stringContaining(stopped) },
    })
    await close()
  })

  test('gives every connection a clean session', async () => {
    const { pool, close } = await openCopy()
    const client = await pool.connect()
    await client.query('SET search_path TO pg_catalog')
    await client.query(`SET TIME ZONE 'Asia/Tokyo'`)
    await client.query('CREATE TEMP TABLE leftover (id int)')
    await client.query('PREPARE leftover AS SELECT 1')
    await client.query('SELECT pg_advisory_lock(1)')
    await client.query('BEGIN')
    client.release(true)
    const { rows } = await pool.query(
      `SELECT current_setting('TimeZone') AS zone, current_setting('search_path') AS path, to_regclass('leftover') AS table,
         (SELECT count(*)::int FROM pg_prepared_statements WHERE name = 'leftover') AS statements,
         (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory') AS locks, now() = statement_timestamp() AS outside`,
    )
    expect(rows).toEqual([{ zone: 'UTC', path: 'public', table: null, statements: 0, locks: 0, outside: true }])
    await close()
  })

  test('is vacuumed, and its write-ahead log stays small', async () => {
    const { pool, close } = await openCopy()
    await pool.query('CREATE TABLE busy AS SELECT n, 0 AS value FROM generate_series(1, 5000) n')
    const redo = async () => (await pool.query('SELECT redo_lsn FROM pg_control_checkpoint()')).rows[0].redo_lsn
    const before = await redo()
    await pool.query('UPDATE busy SET value = value + 1')
    await pool.query('SELECT pg_stat_force_next_flush()')
    await vacuum(pool)
    const statistics = await pool.query(
      `SELECT n_dead_tup::int AS dead, vacuum_count::int AS vacuums FROM pg_stat_user_tables WHERE relname = 'busy'`,
    )
    expect(statistics.rows).toEqual([{ dead: 0, vacuums: 1 }])
    expect(await redo()).not.toBe(before)
    await close()
  })

  test('answers each of thousands of statements with its own result, even when others fail', async () => {
    const database = await openCopy()
    await database.pool.query('CREATE TABLE soak (id int PRIMARY KEY)')
    await Promise.all(Array.from({ length: 12 }, (_, task) => soak(database, task)))
    const { rows } = await database.pool.query('SELECT count(*)::int AS count FROM soak')
    expect(rows).toEqual([{ count: 12 * 25 }])
    await database.close()
  })
})

/** Runs 250 operations of one task and checks each answer. */
async function soak(database: DatabaseHandle, task: number): Promise<void> {
  for (let round = 0; round < 250; round++) {
    const operation = operations[round % operations.length]
    await operation?.(database, task * 1000 + round)
  }
}

/** The operations that are run in turn: writes, reads, failures, and transactions that are rolled back. */
const operations: ((database: DatabaseHandle, id: number) => Promise<void>)[] = [
  async ({ pool }, id) => {
    await pool.query('INSERT INTO soak VALUES ($1)', [id])
  },
  async ({ pool }) => {
    await expect(pool.query('SELECT $1::int / 0', [1])).rejects.toThrow('division by zero')
  },
  async ({ pool }, id) => {
    await expect(pool.query(`SELECT nothing_${id}`)).rejects.toThrow(`nothing_${id}`)
  },
  async ({ prisma }, id) => {
    await expect(prisma.$queryRaw`SELECT ${`not ${id}`}::text::int`).rejects.toThrow(`not ${id}`)
  },
  async ({ prisma }, id) => {
    const undone = prisma.$transaction(async (tx) => {
      await tx.$executeRaw`INSERT INTO soak VALUES (${-id})`
      throw new Error(`undo ${id}`)
    })
    await expect(undone).rejects.toThrow(`undo ${id}`)
  },
  async ({ prisma }, id) => {
    const broken = prisma.$transaction(async (tx) => {
      await tx.$executeRaw`INSERT INTO soak VALUES (${-id})`
      await tx.$executeRaw`INSERT INTO soak VALUES (${-id})`
    })
    await expect(broken).rejects.toThrow('soak_pkey')
  },
  async ({ prisma }, id) => {
    const rows = await prisma.$transaction((tx) => tx.$queryRaw`SELECT ${id}::int AS id`)
    expect(rows).toEqual([{ id }])
  },
  async ({ prisma }) => {
    expect(await prisma.organization.findUnique({ where: { id: newId('Organization') } })).toBe(null)
  },
  async ({ pool }, id) => {
    const { rows } = await pool.query('SELECT $1::int AS id, n FROM generate_series(1, 50) n', [id])
    expect(rows).toEqual(Array.from({ length: 50 }, (_, index) => ({ id, n: index + 1 })))
  },
  async ({ pool }, id) => {
    expect((await pool.query(`SELECT '${id}' AS id`)).rows).toEqual([{ id: String(id) }])
  },
]
