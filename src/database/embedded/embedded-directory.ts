import { type Dirent, readFileSync } from 'node:fs'
import { readdir, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../core/error-code.ts'
import { StartError } from '../../core/errors.ts'
import { ownValue } from '../../core/own-value.ts'

/** The PostgreSQL version whose files the embedded database reads and writes. */
export const FILES_VERSION = '18'

/** Files of every PostgreSQL database (manual, "Database File Layout"). */
const PARTS = ['base', 'global', 'pg_wal', 'pg_xact', 'global/pg_control'] as const
/** The fixed size of pg_control in bytes (PG_CONTROL_FILE_SIZE). */
const CONTROL_SIZE = 8192

const RESTORE =
  'Nothing in it was changed. Restore it from a backup, or move it away; the next start then creates an empty database.'

/**
 * Returns whether the directory contains a database; false: it is empty or absent. Rejects anything in between, because
 * a new database must never replace an existing database that lost a file.
 * @throws StartError with the problem and the remedy.
 */
export async function holdsDatabase(directory: string): Promise<boolean> {
  const entries = await entriesOf(directory)
  if (entries === null || entries.length === 0) return false
  if (!entries.some(({ name }) => name === 'PG_VERSION')) {
    throw new StartError(`${directory} contains files but no PG_VERSION, so it is not a complete database. ${RESTORE}`)
  }
  const version = readFileSync(join(directory, 'PG_VERSION'), 'utf8').trim()
  if (version !== FILES_VERSION) {
    const found = /^\d+(\.\d+)?$/.test(version) ? `is a database of PostgreSQL ${version}` : 'has a damaged PG_VERSION'
    throw new StartError(
      `${directory} ${found}; this version of Allclear reads PostgreSQL ${FILES_VERSION}. ${RESTORE}`,
    )
  }
  await requireParts(directory)
  await requireWritable(directory)
  return true
}

async function entriesOf(directory: string): Promise<Dirent[] | null> {
  try {
    return await readdir(directory, { withFileTypes: true })
  } catch (error) {
    switch (errorCode(error)) {
      case 'ENOENT':
        return null
      case 'ENOTDIR':
        throw new StartError(`${directory} is a file, not a directory. Move it away, or set another DATA_DIR.`)
      default:
        throw asStartError(error, directory)
    }
  }
}

async function requireParts(directory: string): Promise<void> {
  for (const part of PARTS) {
    const found = await stat(join(directory, part)).catch(() => null)
    if (found === null) throw new StartError(`${directory} is damaged: ${part} is missing. ${RESTORE}`)
    if (part === 'global/pg_control' && found.size !== CONTROL_SIZE) {
      const size = `${part} has ${found.size} bytes instead of ${CONTROL_SIZE}`
      throw new StartError(`${directory} is damaged: ${size}. ${RESTORE}`)
    }
  }
}

/** As many bytes as the first checkpoint writes at least. */
const PROBE = Buffer.alloc(64 * 1024, 1)

/**
 * Checks that a directory is writable by writing a temporary file.
 * @throws StartError when it is not.
 */
export async function requireWritable(directory: string): Promise<void> {
  const probe = join(directory, '.allclear-writable')
  try {
    await writeFile(probe, PROBE, { flush: true })
  } catch (error) {
    throw asStartError(error, directory)
  } finally {
    await rm(probe, { force: true }).catch(() => {})
  }
}

/** Converts the error of a file operation to a StartError with the reason and the remedy. */
export function asStartError(error: unknown, directory: string): StartError {
  const why = ownValue(reasons, errorCode(error)) ?? (error instanceof Error ? error.message : String(error))
  return new StartError(`${directory} cannot be used: ${why}`, { cause: error })
}

const reasons: Readonly<Record<string, string>> = {
  EROFS: 'it is on a read-only file system. Mount it writable, or set DATA_DIR to a directory that is.',
  EACCES:
    'this user may not read and write it. Give it to the user that Allclear runs as (chown -R), or set another DATA_DIR.',
  EPERM:
    'this user may not read and write it. Give it to the user that Allclear runs as (chown -R), or set another DATA_DIR.',
  ENOSPC: 'its file system is full. Free some space (an empty database takes 50 MB), or set another DATA_DIR.',
  EDQUOT: 'its user’s quota of disk space is used up. Free some space, or set another DATA_DIR.',
  ENOTDIR: 'a part of its path is a file. Set another DATA_DIR.',
  EIO: 'its disk is failing (input/output error). Check the disk, and restore the directory from a backup.',
}

/** The minimum free space for a start, in bytes: PostgreSQL writes a segment of its write-ahead log. */
const MIN_FREE_BYTES = 16 * 1024 * 1024

/**
 * Converts an error during opening to a StartError with the reason and the remedy. When PostgreSQL exits during its
 * start, the WebAssembly build only reports that it exited.
 * @param options.isNew whether the database was being created, so that no data can be damaged.
 */
export async function asOpenError(
  error: unknown,
  directory: string,
  { isNew = false }: { readonly isNew?: boolean } = {},
): Promise<StartError> {
  if (error instanceof StartError) return error
  if (errorCode(error) in reasons) return asStartError(error, directory)
  const space = await statfs(directory).catch(() => null)
  if (space !== null && space.bavail * space.bsize < MIN_FREE_BYTES) {
    return new StartError(`${directory} cannot be used: ${reasons['ENOSPC']}`, { cause: error })
  }
  const message = error instanceof Error ? error.message : String(error)
  const hasEnded = /Aborted\(|unreachable|memory access|ended with|exit\(|failed to initialize/.test(message)
  if (isNew) {
    const why = hasEnded ? 'PostgreSQL did not start' : message.replace(/\.$/, '')
    return new StartError(`Could not create a database in ${directory}: ${why}.`, { cause: error })
  }
  const why = hasEnded ? 'PostgreSQL cannot start from its files' : message.replace(/\.$/, '')
  return new StartError(`${directory} is damaged: ${why}. ${RESTORE}`, { cause: error })
}
