import pino from 'pino'
import { afterAll, afterEach, describe, expect, inject, test, vi } from 'vitest'
import type { Context } from '../../src/core/context.ts'
import { type DatabaseHandle, openDatabase } from '../../src/database/client.ts'
import { LONG_DEADLINE, withLongDeadline } from '../../src/database/connection/statement-deadline.ts'
import { serverDatabase, serverUrl } from '../support/database.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'

/** A statement deadline that is short enough for a test, in milliseconds. */
const deadline = 400

describe.skipIf(serverUrl === undefined)('a PostgreSQL server behind a failing network', async () => {
  if (serverUrl === undefined) return
  const own = await serverDatabase(serverUrl, inject('databaseTemplate'))
  const proxy = await startDatabaseProxy(own.url)
  const lines: { readonly msg: string; readonly level: number; readonly failures?: number }[] = []
  const log = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line)) })
  const database: DatabaseHandle = await openDatabase({ dataDir: '', databaseUrl: proxy.url, log, deadline })
  const { pool, prisma } = database
  afterEach(async () => {
    await proxy.resume()
    await vi.waitUntil(() => database.trouble().then((trouble) => trouble === null), 10_000)
    lines.length = 0
  })
  afterAll(async () => {
    await database.close()
    await proxy.close()
    await own.remove()
  })

  /** Opens connections and leaves them idle. */
  const warm = (count: number) => Promise.all(Array.from({ length: count }, () => pool.query('SELECT pg_sleep(0.05)')))

  test('a statement on a silent connection fails at its deadline, and so do the others on it', async () => {
    await warm(5)
    expect(pool.idleCount).toBe(5)
    expect(proxy.silence()).toBeGreaterThanOrEqual(5)
    await expect(pool.query('SELECT 1')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect((await pool.query('SELECT 2 AS two')).rows).toEqual([{ two: 2 }])
    expect(await prisma.organization.count()).toBe(0)
  })

  test('a transaction on a silent connection is abandoned, and the connection is not reused', async () => {
    await warm(1)
    const work = prisma.$transaction(async (tx) => {
      await tx.organization.count()
      proxy.silence()
      return tx.organization.count()
    })
    await expect(work).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    for (let turn = 0; turn < 12; turn += 1) expect(await prisma.organization.count()).toBe(0)
  })

  test('a slow statement is cancelled by the server and is not an outage', async () => {
    const cancelled = { code: 'UNAVAILABLE', cause: { code: '57014' } }
    await expect(pool.query('SELECT pg_sleep(5)')).rejects.toMatchObject(cancelled)
    expect(await database.trouble()).toBeNull()
    expect(lines).toEqual([])
  })

  test('long statements have their own deadline', async () => {
    const ctx = { db: prisma } as unknown as Context
    const slow = (tx: Pick<Context, 'db'>) => tx.db.$queryRaw`SELECT pg_sleep(1.2)::text`
    await expect(slow(ctx)).rejects.toThrow()
    await withLongDeadline(ctx, slow)
    const shown = await withLongDeadline(ctx, (tx) => tx.db.$queryRaw`SHOW statement_timeout`)
    expect(shown).toEqual([{ statement_timeout: `${LONG_DEADLINE / 60_000}min` }])
    expect(await prisma.$queryRaw`SHOW statement_timeout`).toEqual([{ statement_timeout: `${deadline}ms` }])
  })

  test('an outage is logged once with the number of failed statements, and statements fail fast meanwhile', async () => {
    await warm(3)
    proxy.stall()
    const failing = Array.from({ length: 20 }, () => pool.query('SELECT 1').catch((error: Error) => error))
    expect(await Promise.all(failing)).toEqual(
      Array.from({ length: 20 }, () => expect.objectContaining({ code: 'UNAVAILABLE' })),
    )
    await vi.waitUntil(() => lines.some(({ msg }) => msg.startsWith('database: unreachable')), 10_000)
    for (let turn = 0; turn < 200; turn += 1) {
      await expect(prisma.organization.count()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    }
    expect(await database.trouble()).toBe('unreachable')
    await proxy.resume()
    await vi.waitUntil(() => lines.some(({ msg }) => msg.startsWith('database: available again')), 15_000)
    const outages = lines.filter(({ msg }) => /unreachable|available again/.test(msg))
    expect(outages.map(({ msg }) => msg.replace(/\d+/, 'n'))).toEqual([
      'database: unreachable; retrying every second',
      'database: available again after n s',
    ])
    expect(outages[1]?.failures).toBeGreaterThan(10)
    expect(await prisma.organization.count()).toBe(0)
  })

  test('a silent connection for notifications is replaced, and listeners are notified', async () => {
    const heard: (string | null)[] = []
    const stop = await database.listen('bell', (payload) => heard.push(payload))
    expect(proxy.silence((said) => said.includes('LISTEN "bell"'))).toBe(1)
    await vi.waitUntil(() => heard.length === 2, 10_000)
    await pool.query(`NOTIFY bell, 'again'`)
    await vi.waitUntil(() => heard.includes('again'))
    expect(heard).toEqual([null, null, 'again'])
    await stop()
  })

  test('a server that has refused connections is used again', async () => {
    await warm(3)
    await proxy.refuse()
    await expect(pool.query('SELECT 1')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await vi.waitUntil(() => database.trouble().then((trouble) => trouble === 'unreachable'), 10_000)
    await proxy.resume()
    await vi.waitUntil(
      () =>
        prisma.organization.count().then(
          () => true,
          () => false,
        ),
      10_000,
    )
  })

  test('a read-only database is reported as read-only', async () => {
    await pool.query(`ALTER DATABASE ${new URL(own.url).pathname.slice(1)} SET default_transaction_read_only = on`)
    proxy.cut()
    await vi.waitUntil(() => database.trouble().then((trouble) => trouble === 'read-only'), 10_000)
    await expect(prisma.organization.deleteMany()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(await prisma.organization.count()).toBe(0)
    await pool.query(
      'BEGIN READ WRITE; ALTER DATABASE ' +
        new URL(own.url).pathname.slice(1) +
        ' RESET default_transaction_read_only; COMMIT',
    )
    proxy.cut()
  })
})
