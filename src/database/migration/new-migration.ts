/**
 * `npm run migration -- some_name` writes the migration that leads from prisma/migrations to prisma/schema.prisma. It
 * needs no server: it applies the existing migrations to an embedded database and compares the result with the schema.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../../core/process/paths.ts'
import { openEmbedded } from '../embedded/embedded.ts'
import { migrate, migrationsDirectory } from './migrate.ts'
import { readTemplate } from './migrated-template.ts'
import { difference } from './schema-engine.ts'

const [name = '', ...rest] = process.argv.slice(2)
if (!/^[a-z0-9_]{1,60}$/.test(name) || rest.length > 0) {
  say('Usage: npm run migration -- some_name (lower-case letters, digits and _)')
  process.exit(2)
}
const sql = await nextMigration()
say(sql === '' ? 'The migrations match prisma/schema.prisma. There is nothing to write.' : await write(name, sql))

async function nextMigration(): Promise<string> {
  const schema = await readFile(new URL('prisma/schema.prisma', root), 'utf8')
  const scratch = await mkdtemp(join(tmpdir(), 'allclear-migration-'))
  const database = await openEmbedded(join(scratch, 'database'), readTemplate)
  try {
    await migrate(database.pool)
    return await difference(database.pool, schema)
  } finally {
    await database.close()
    await rm(scratch, { recursive: true })
  }
}

/** Writes the migration to a folder named as Prisma does: the UTC time to the second, and the name. */
async function write(name: string, sql: string): Promise<string> {
  const timestamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  const directory = join(migrationsDirectory, `${timestamp}_${name}`)
  await mkdir(directory)
  await writeFile(join(directory, 'migration.sql'), sql)
  return `Wrote ${join(directory, 'migration.sql')}. Read it: a column that was renamed or became required may need a manual change.`
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
