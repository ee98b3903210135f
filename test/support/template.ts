import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { access, constants, mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DAY } from '../../src/core/time.ts'
import { openDatabase } from '../../src/database/client.ts'
import { migrationsDirectory, readMigrations } from '../../src/database/migration/migrate.ts'
import { pgliteVersion } from '../../src/database/migration/migrated-template.ts'
import { silent } from './scratch.ts'

/** How long an unused template is kept, because branches have their own. */
const KEPT = 2 * DAY

/**
 * Returns the DATA_DIR of a migrated, empty database to copy. Creates it unless one exists for these migrations and
 * this PGlite: creating and migrating one takes seconds, copying it a tenth of a second. It is created atomically, even
 * by several processes.
 * @param cache where templates are kept, if not beside the packages.
 */
export async function embeddedTemplate(cache?: string): Promise<string> {
  const directory = cache ?? (await cacheDirectory())
  const path = join(directory, `database-${await versionOfTemplate()}`)
  if (existsSync(path)) {
    const now = new Date()
    await utimes(path, now, now)
    return path
  }
  await removeOld(directory)
  const unfinished = await mkdtemp(join(directory, 'unfinished-'))
  try {
    const database = await openDatabase({ dataDir: unfinished, databaseUrl: undefined, log: silent })
    await database.close()
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    // Another process was faster.
    if (!existsSync(path)) throw error
  }
  return path
}

/** Beside the packages; where they cannot be written, in the system's temporary directory. */
async function cacheDirectory(): Promise<string> {
  const packages = fileURLToPath(new URL('../../node_modules/', import.meta.url))
  const isWritable = await access(packages, constants.W_OK).then(
    () => true,
    () => false,
  )
  const directory = join(isWritable ? packages : tmpdir(), '.cache', 'allclear')
  await mkdir(directory, { recursive: true })
  return directory
}

async function versionOfTemplate(): Promise<string> {
  const version = await pgliteVersion()
  const migrations = await readMigrations(migrationsDirectory)
  return createHash('sha256')
    .update(JSON.stringify([version, migrations]))
    .digest('hex')
    .slice(0, 16)
}

async function removeOld(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    const { mtimeMs } = await stat(path)
    if (Date.now() - mtimeMs > KEPT) await rm(path, { recursive: true, force: true })
  }
}
