// @slow
import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDatabase } from '../../../src/database/client.ts'
import { type Embedded, openEmbedded } from '../../../src/database/embedded/embedded.ts'
import { migrationsDirectory, readMigrations } from '../../../src/database/migration/migrate.ts'
import {
  pgliteVersion,
  readTemplate,
  type TemplateManifest,
  templateDirectory,
  templateFiles,
} from '../../../src/database/migration/migrated-template.ts'
import { startChild } from '../../support/child.ts'
import { serverUrl } from '../../support/database.ts'
import { silent, temporaryDirectory } from '../../support/scratch.ts'

let scratch: string
let remove: () => Promise<void>
beforeEach(async () => {
  const temporary = await temporaryDirectory()
  scratch = temporary.path
  remove = temporary.remove
})
afterEach(() => remove())

const manifest: TemplateManifest = JSON.parse(await readFile(join(templateDirectory, templateFiles.manifest), 'utf8'))

/** Copies the template with another manifest. */
async function templateWith(changes: Partial<TemplateManifest>): Promise<string> {
  const directory = join(scratch, 'template')
  await cp(templateDirectory, directory, { recursive: true })
  await writeFile(join(directory, templateFiles.manifest), JSON.stringify({ ...manifest, ...changes }))
  return directory
}

describe('the template', () => {
  test('matches the installed PGlite and our first migrations; otherwise run npm run template', async () => {
    expect(manifest.pglite).toBe(await pgliteVersion())
    expect(await readTemplate()).not.toBe(null)
  })

  test('of another version of PGlite is not used', async () => {
    expect(await readTemplate(await templateWith({ pglite: '0.0.1' }))).toBe(null)
  })

  test('with a migration that has changed since, or is not ours, is not used', async () => {
    const [first = ''] = Object.keys(manifest.migrations)
    const changed = await templateWith({ migrations: { ...manifest.migrations, [first]: 'another checksum' } })
    expect(await readTemplate(changed)).toBe(null)
    const others = await templateWith({ migrations: { ...manifest.migrations, '20990101000000_later': 'a checksum' } })
    expect(await readTemplate(others)).toBe(null)
  })

  test('that lacks the latest migration is used', async () => {
    const migrations = Object.fromEntries(Object.entries(manifest.migrations).slice(0, -1))
    expect(await readTemplate(await templateWith({ migrations }))).not.toBe(null)
  })

  test('that is missing is not used', async () => {
    expect(await readTemplate(join(scratch, 'none'))).toBe(null)
  })
})

describe.skipIf(serverUrl !== undefined)('a new embedded database', () => {
  const tablesOf = async ({ pool }: Pick<Embedded, 'pool'>) => {
    const { rows } = await pool.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname`,
    )
    return rows.map(({ name }) => name)
  }

  test('is empty and has the migrations of its template', async () => {
    const database = await openEmbedded(join(scratch, 'database'), readTemplate)
    const tables = await tablesOf(database)
    for (const table of tables.filter((name) => name !== '_prisma_migrations')) {
      const { rows } = await database.pool.query(`SELECT * FROM ${pg.escapeIdentifier(table)}`)
      expect([table, rows]).toEqual([table, []])
    }
    const applied = await database.pool.query(
      'SELECT migration_name AS name FROM _prisma_migrations ORDER BY started_at',
    )
    expect(applied.rows.map(({ name }) => name)).toEqual(Object.keys(manifest.migrations))
    await database.close()
  })

  // This takes minutes on a busy machine.
  test('is created by PGlite without a template', async () => {
    const database = await openEmbedded(join(scratch, 'database'), async () => null)
    expect(await tablesOf(database)).toEqual([])
    await database.close()
  }, 300_000)

  test('is not created from a damaged template', async () => {
    const damaged = await templateWith({})
    await writeFile(join(damaged, templateFiles.archive), 'no archive')
    await expect(openEmbedded(join(scratch, 'database'), () => readTemplate(damaged))).rejects.toThrow(
      /^Could not create a database in /,
    )
    expect(await readdir(scratch)).toEqual(['template'])
  })

  test('is created again after a crash while its template was unpacked', async () => {
    const names = async () => (await readdir(scratch)).filter((name) => name.startsWith('database'))
    const child = startChild('database-child', ['hold', scratch])
    while ((await names()).length === 0);
    await child.kill()
    const [left = ''] = await names()
    // The database would have been complete a little later.
    if (left === 'database') await rename(join(scratch, 'database'), join(scratch, 'database.unfinished'))
    const database = await openDatabase({ dataDir: scratch, databaseUrl: undefined, log: silent })
    const { rows } = await database.pool.query('SELECT count(*)::int AS count FROM _prisma_migrations')
    expect(rows).toEqual([{ count: (await readMigrations(migrationsDirectory)).length }])
    await database.close()
    expect(await readdir(scratch)).toEqual(['database'])
  })
})
