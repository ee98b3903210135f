import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { errorCode } from '../../core/error-code.ts'
import { root } from '../../core/process/paths.ts'
import { checksumOf, migrationsDirectory, readMigrations } from './migrate.ts'

/**
 * The template of the embedded database ships with the program: the files of an empty, migrated database. Unpacking
 * them takes a tenth of the time that PGlite takes to create a database. `npm run template` writes it.
 */
export const templateDirectory = fileURLToPath(new URL('prisma/template', root))

/** The names of the files of a template. */
export const templateFiles = { manifest: 'manifest.json', archive: 'database.tar.br' } as const

/** The versions from which a template was created. */
export interface TemplateManifest {
  /** The version of PGlite. */
  readonly pglite: string
  /** The checksums of the migrations that were applied, by name, in order. */
  readonly migrations: Readonly<Record<string, string>>
}

/** Returns the installed version of PGlite. */
export async function pgliteVersion(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const { version } = JSON.parse(await readFile(join(dirname(entry), '../package.json'), 'utf8'))
  return version
}

/**
 * Returns the tar archive of a template; null: there is none, or it was created with another version of PGlite or with
 * migrations that are not the first ones in `migrations`. It may lack later migrations, which are applied as on any
 * older database.
 */
export async function readTemplate(
  directory = templateDirectory,
  migrations = migrationsDirectory,
): Promise<Buffer | null> {
  const manifest = await readManifest(directory)
  if (manifest === null || manifest.pglite !== (await pgliteVersion())) return null
  const known = await readMigrations(migrations)
  const isFirst = ([name, checksum]: [string, string], index: number) => {
    const migration = known[index]
    return migration?.name === name && checksumOf(migration.sql) === checksum
  }
  if (!Object.entries(manifest.migrations).every(isFirst)) return null
  return promisify(brotliDecompress)(await readFile(join(directory, templateFiles.archive)))
}

async function readManifest(directory: string): Promise<TemplateManifest | null> {
  try {
    return JSON.parse(await readFile(join(directory, templateFiles.manifest), 'utf8'))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}
