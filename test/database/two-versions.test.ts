import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { readArchive } from '../../src/backup/archive.ts'
import { load, quoted, tablesOf } from '../../src/backup/dump.ts'
import { openDatabase } from '../../src/database/client.ts'
import { migrateTo, migrationsDirectory, readMigrations } from '../../src/database/migration/migrate.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { serverDatabase, serverUrl } from '../support/database.ts'
import { silent } from '../support/scratch.ts'
import { fileOf, fixtures } from './upgrades/fixtures.ts'

/*
 * Simulates an instance of the previous version that keeps running while one of this version starts. It names the columns of
 * its version, in statements prepared as the service's pool prepares them. Skipped for the embedded database, which only one
 * process can use.
 */

const migrations = await readMigrations(migrationsDirectory)

type Statement = { readonly name: string; readonly text: string; readonly values: unknown[] }

/** Reads and writes every table of the previous version, as its own client would. */
class PreviousVersion {
  readonly #pool: pg.Pool
  #statements: readonly { read: Statement; write: Statement }[] = []

  constructor(url: string) {
    // Each instance has its own connection, because prepared statements belong to a connection.
    this.#pool = new pg.Pool({ connectionString: url, max: 1 })
  }

  /** Reads the columns of that version, and prepares the statements. */
  async open(): Promise<void> {
    const tables = await this.#with(tablesOf)
    this.#statements = [...tables].map(([table, columns], number) => {
      const names = columns.map(quoted).join(', ')
      const [first = ''] = columns
      return {
        read: { name: `read ${number}`, text: `SELECT ${names} FROM ${quoted(table)}`, values: [] },
        write: {
          name: `write ${number}`,
          text: `UPDATE ${quoted(table)} SET ${quoted(first)} = ${quoted(first)} RETURNING ${names}`,
          values: [],
        },
      }
    })
    await this.work()
  }

  /**
   * Writes and reads each table.
   * @returns the number of rows read from each table.
   * @throws the database's error for a statement of the previous version.
   */
  async work(): Promise<number[]> {
    const counts: number[] = []
    for (const { read, write } of this.#statements) {
      const { rowCount } = await this.#pool.query(write)
      const { rows } = await this.#pool.query(read)
      expect(rows).toHaveLength(rowCount ?? -1)
      counts.push(rows.length)
    }
    return counts
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  async #with<T>(use: (connection: pg.ClientBase) => Promise<T>): Promise<T> {
    const connection = await this.#pool.connect()
    return use(connection).finally(() => connection.release())
  }
}

describe.skipIf(serverUrl === undefined)('an instance of the previous version', () => {
  test('reads and writes every table during and after the migration by this version', async () => {
    const { url, remove } = await serverDatabase(serverUrl ?? '')
    atTheEnd(remove)
    const last = fixtures.at(-1) ?? ''
    const loading = new pg.Client({ connectionString: url })
    await loading.connect()
    await load(loading, readArchive(fileOf(last), null), migrations)
    await loading.end()

    const before = new PreviousVersion(url)
    atTheEnd(() => before.close())
    await before.open()
    let isStarted = false
    let rounds = 0
    const working = (async () => {
      while (!isStarted) {
        await before.work()
        rounds += 1
      }
    })()
    // Starts two instances of this version at once, as a rolling upgrade may do: one migrates, the other waits.
    const [one, other] = await Promise.all([
      openDatabase({ dataDir: '', databaseUrl: url, log: silent }),
      openDatabase({ dataDir: '', databaseUrl: url, log: silent }),
    ])
    atTheEnd(() => one.close())
    atTheEnd(() => other.close())
    isStarted = true
    await working
    expect(rounds).toBeGreaterThan(0)
    for (const count of await before.work()) expect(count).toBeGreaterThan(0)
    const { rows } = await one.pool.query('SELECT count(*)::int AS count FROM "_prisma_migrations"')
    expect(rows).toEqual([{ count: migrations.length }])
  })

  test('does not restart after the migration by this version, and names the migration that it does not know', async () => {
    const { url, remove } = await serverDatabase(serverUrl ?? '')
    atTheEnd(remove)
    const database = await openDatabase({ dataDir: '', databaseUrl: url, log: silent })
    await database.close()
    const pool = new pg.Pool({ connectionString: url, max: 1 })
    atTheEnd(() => pool.end())
    const older = migrations.slice(0, -1)
    const newest = migrations.at(-1)?.name ?? ''
    await expect(migrateTo(pool, older)).rejects.toThrow(`The database has the migration ${newest}`)
  })
})
