import { once } from 'node:events'
import pg from 'pg'
import pino from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDatabase } from '../../../src/database/client.ts'
import { startChild } from '../../support/child.ts'
import { serverDatabase, serverUrl } from '../../support/database.ts'
import { silent } from '../../support/scratch.ts'

test('errors about an unreachable server do not contain its password', async () => {
  const open = openDatabase({ dataDir: '', databaseUrl: 'postgresql://me:secret@127.0.0.1:1/shop', log: silent })
  const { message } = await open.then(
    () => new Error('opened'),
    (error: Error) => error,
  )
  expect(message).toBe('Could not connect to the database shop at 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1')
})

describe.skipIf(serverUrl === undefined)('a PostgreSQL server', () => {
  let url: string
  let remove: () => Promise<void>
  beforeEach(async () => {
    const own = await serverDatabase(serverUrl ?? '')
    url = own.url
    remove = own.remove
  })
  afterEach(() => remove())

  const open = () => openDatabase({ dataDir: '', databaseUrl: url, log: silent })
  const onServer = async (sql: string) => {
    const client = new pg.Client(url)
    await client.connect()
    await client.query(sql)
    await client.end()
  }

  test('that closes a connection between two statements of a transaction fails only the next statement', async () => {
    const { prisma, pool, close } = await open()
    const client = await pool.connect()
    await client.query('BEGIN')
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
    // `once` would reject with the error that closes the connection.
    const ended = new Promise((resolve) => client.once('end', resolve))
    await onServer(`SELECT pg_terminate_backend(${rows[0].pid})`)
    await ended
    await expect(client.query('SELECT 1')).rejects.toThrow()
    client.release(true)
    expect(await prisma.organization.count()).toBe(0)
    await close()
  })

  test('is migrated once by concurrent starts', async () => {
    const children = Array.from({ length: 3 }, () => startChild('database-child', ['hold', url]))
    expect(await Promise.all(children.map((child) => child.line()))).toEqual(['open', 'open', 'open'])
    await Promise.all(children.map((child) => child.kill()))
    const database = await open()
    const { rows } = await database.pool.query(
      'SELECT count(*) = count(DISTINCT migration_name) AS once FROM _prisma_migrations',
    )
    expect(rows).toEqual([{ once: true }])
    const locks = await database.pool.query(
      `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    )
    expect(locks.rows).toEqual([])
    await database.close()
  })

  test('has UTC sessions in any time zone', async () => {
    await onServer(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET TimeZone TO 'Asia/Tokyo'`)
    const database = await open()
    expect((await database.pool.query('SHOW TimeZone')).rows).toEqual([{ TimeZone: 'UTC' }])
    await database.close()
  })

  test('is used again after it closes all connections; listeners are notified that they may have missed something', async () => {
    const lines: string[] = []
    const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) })
    const database = await openDatabase({ dataDir: '', databaseUrl: url, log })
    const heard = new pg.Client()
    const payloads: (string | null)[] = []
    const stop = await database.listen('bell', (payload) => {
      payloads.push(payload)
      if (payload !== null || payloads.length === 2) heard.emit('heard')
    })
    const gap = once(heard, 'heard')
    const ended = once(database.pool, 'error')
    await onServer(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name IN ('allclear', 'allclear notifications')`,
    )
    await Promise.all([gap, ended])
    const rung = once(heard, 'heard')
    await database.pool.query(`NOTIFY bell, 'again'`)
    await rung
    expect(payloads).toEqual([null, null, 'again'])
    expect(lines.join()).toContain('an idle connection failed')
    await stop()
    await database.close()
  })
})
