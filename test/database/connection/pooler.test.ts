// @slow
import pg from 'pg'
import pino from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { transaction } from '../../../src/core/context.ts'
import { newId } from '../../../src/core/id.ts'
import { openDatabase } from '../../../src/database/client.ts'
import { routeTo } from '../../../src/database/connection/route.ts'
import { ServerClient } from '../../../src/database/connection/server-client.ts'
import { plainRows } from '../../../src/database/transaction.ts'
import { Prisma } from '../../../src/generated/prisma/client.ts'
import { serverDatabase, serverUrl } from '../../support/database.ts'
import { type Pooler, pgbouncerMissing, startPgbouncer } from '../../support/pgbouncer.ts'

test.runIf(process.env['CI'] && serverUrl !== undefined)('PgBouncer is installed', () => {
  expect(pgbouncerMissing).toBeNull()
})

describe.skipIf(serverUrl === undefined || pgbouncerMissing !== null)('PgBouncer', () => {
  let direct: string
  let remove: () => Promise<void>
  let pooler: Pooler | undefined
  let lines: string[]
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line).msg) })
  beforeEach(async () => {
    lines = []
    const own = await serverDatabase(serverUrl ?? '')
    direct = own.url
    remove = own.remove
  })
  afterEach(async () => {
    await pooler?.stop()
    pooler = undefined
    await remove()
  })

  const onServer = async (sql: string) => {
    const client = new pg.Client(direct)
    await client.connect()
    await client.query(sql)
    await client.end()
  }
  const ignoring = 'ignore_startup_parameters = options'
  const both = [
    ['session', []],
    ['session', [ignoring]],
    ['transaction', []],
    ['transaction', [ignoring]],
    ['transaction', [ignoring, 'server_round_robin = 1', 'default_pool_size = 7']],
  ] as const

  describe.each(both)('in %s mode with %j', (mode, more) => {
    const start = async () => {
      pooler = await startPgbouncer(direct, [`pool_mode = ${mode}`, ...more])
      return pooler.url
    }

    test.each(['with', 'without'])('serves two instances %s a direct address', async (given) => {
      await onServer(`ALTER DATABASE ${new URL(direct).pathname.slice(1)} SET TimeZone TO 'Asia/Tokyo'`)
      const databaseUrl = await start()
      const directUrl = given === 'with' ? direct : undefined
      const options = { dataDir: '', databaseUrl, directUrl, connections: 6, log }
      const databases = await Promise.all([openDatabase(options), openDatabase(options)])
      try {
        const [one, other] = databases
        const heard = vi.fn()
        await other.listen('bell', heard)
        // What a session remembers from one statement would fail in the next session.
        await Promise.all(
          databases.flatMap((database) => Array.from({ length: 60 }, (_, index) => write(database, index))),
        )
        await one.pool.query(`NOTIFY bell, 'rung'`)
        await vi.waitUntil(() => heard.mock.calls.length > 0)
        expect(heard.mock.calls[0]).toEqual([given === 'with' ? 'rung' : null])
        expect(await one.prisma.organization.count()).toBe(120)
        const zones = await Promise.all(Array.from({ length: 12 }, () => other.pool.query('SHOW TimeZone')))
        expect(new Set(zones.map(({ rows }) => rows[0].TimeZone))).toEqual(new Set(['UTC']))
      } finally {
        await Promise.all(databases.map((database) => database.close()))
      }
      expect(lines.join('\n')).toMatch(/single statements have no deadline on the server/)
      expect(/looks for changes every second/.test(lines.join('\n'))).toBe(given === 'without')
      const client = new pg.Client(direct)
      await client.connect()
      const { rows } = await client.query(
        `SELECT (SELECT count(*)::int FROM _prisma_migrations) - (SELECT count(DISTINCT migration_name)::int FROM _prisma_migrations) AS twice,
           (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS locks`,
      )
      expect(rows).toEqual([{ twice: 0, locks: 0 }])
      await client.end()
    })
  })

  /** Changes and reads in each of the ways of the program. */
  async function write({ prisma, pool }: Awaited<ReturnType<typeof openDatabase>>, index: number): Promise<void> {
    const at = new Date(Date.UTC(2026, 0, 1, index % 24))
    const id = newId('Organization')
    await transaction({ db: prisma }, async ({ db }) => {
      await db.organization.create({
        data: {
          id,
          name: 'Shop',
          slug: id.toLowerCase().replaceAll('_', '-'),
          contactEmail: 'ops@example.com',
          createdAt: at,
        },
      })
      const rows = await db.$queryRaw<{ createdAt: Date; deadline: string }[]>`
        SELECT "createdAt", current_setting('statement_timeout') AS deadline FROM "Organization" WHERE id = ${id}`
      expect(rows).toEqual([{ createdAt: at, deadline: '10s' }])
    })
    const statement = Prisma.sql`SELECT "createdAt" FROM "Organization" WHERE id = ${id}`
    expect(await plainRows(prisma, statement)).toEqual([{ createdAt: at }])
    const { rows } = await pool.query({
      name: 'by id',
      text: 'SELECT name FROM "Organization" WHERE id = $1',
      values: [id],
    })
    expect(rows).toEqual([{ name: 'Shop' }])
    expect((await prisma.organization.findUniqueOrThrow({ where: { id } })).createdAt).toEqual(at)
  }

  test('is told from a server', async () => {
    pooler = await startPgbouncer(direct, ['pool_mode = transaction'])
    expect(await routeTo(direct)).toEqual({ isPooled: false, advice: null })
    expect(await routeTo(pooler.url)).toMatchObject({ isPooled: true })
  })

  test('is reported if it does not pass on the time zone', async () => {
    const role = `role_${process.pid}`
    await onServer(
      `CREATE ROLE ${role} LOGIN; ALTER ROLE ${role} SET TimeZone TO 'America/New_York'; ALTER ROLE ${role} SET statement_timeout TO '9s'`,
    )
    try {
      const url = new URL(direct)
      url.username = role
      pooler = await startPgbouncer(url.href, ['pool_mode = transaction'])
      const startup = (client: object) => Object.getPrototypeOf(ServerClient.prototype).getStartupConf.call(client)
      // PgBouncer itself always passes the time zone on.
      vi.spyOn(ServerClient.prototype, 'getStartupConf').mockImplementation(function (this: ServerClient) {
        return startup(this)
      })
      await expect(routeTo(pooler.url)).rejects.toThrow(
        `must be UTC and is America/New_York. Set it for the role: ALTER ROLE "${role}" SET TimeZone TO 'UTC'`,
      )
      vi.restoreAllMocks()
      expect(await routeTo(pooler.url)).toEqual({ isPooled: true, advice: null })
    } finally {
      await pooler?.stop()
      pooler = undefined
      await onServer(`DROP ROLE ${role}`)
    }
  })
})
