/**
 * `npm run template` writes the template of the embedded database with the installed PGlite and the current migrations.
 * Run it after an update of PGlite, and when many new migrations make a first start noticeably slower.
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { openEmbedded } from '../embedded/embedded.ts'
import { checksumOf, migrate, migrationsDirectory, readMigrations } from './migrate.ts'
import { pgliteVersion, type TemplateManifest, templateDirectory, templateFiles } from './migrated-template.ts'

const scratch = await mkdtemp(join(tmpdir(), 'allclear-template-'))
try {
  const directory = join(scratch, 'database')
  await createMigrated(directory)
  await mkdir(templateDirectory, { recursive: true })
  await writeFile(join(templateDirectory, templateFiles.archive), await compressed(await archiveOf(directory)))
  await writeFile(join(templateDirectory, templateFiles.manifest), `${JSON.stringify(await manifest(), null, 2)}\n`)
} finally {
  await rm(scratch, { recursive: true })
}

async function createMigrated(directory: string): Promise<void> {
  const database = await openEmbedded(directory, async () => null)
  await migrate(database.pool)
  // No VACUUM: after one, the planner would assume that the tables are small until they are analyzed.
  await database.pool.query('CHECKPOINT')
  await database.close()
}

async function archiveOf(directory: string): Promise<Buffer> {
  const { stdout } = await promisify(execFile)('tar', ['--format=ustar', '-cf', '-', '-C', directory, '.'], {
    encoding: 'buffer',
    maxBuffer: Number.POSITIVE_INFINITY,
  })
  return stdout
}

/** Compresses an archive. A database has its catalog three times; the window is large enough to span all of them. */
function compressed(archive: Buffer): Promise<Buffer> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 9,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: archive.length,
  }
  return promisify(brotliCompress)(archive, { params })
}

async function manifest(): Promise<TemplateManifest> {
  const migrations = await readMigrations(migrationsDirectory)
  return {
    pglite: await pgliteVersion(),
    migrations: Object.fromEntries(migrations.map(({ name, sql }) => [name, checksumOf(sql)])),
  }
}
