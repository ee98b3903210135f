import { type Dirent, readFileSync } from 'node:fs'
import { readdir, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../errors.ts'

/** The version of PostgreSQL's files that the embedded database writes, and the only one that it reads. */
export const FILES_VERSION = '18'

/** What every database of PostgreSQL has (its manual, "Database File Layout"). */
const PARTS = ['base', 'global', 'pg_wal', 'pg_xact', 'global/pg_control'] as const
/** The size of pg_control, whatever is in it (PG_CONTROL_FILE_SIZE). */
const CONTROL_SIZE = 8192

const RESTORE =
  'Nothing in it was changed. Restore it from a backup, or move it away: then the next start makes a new, empty database.'

/**
 * Whether the directory of the embedded database holds one; false when there is nothing yet. Whatever is neither wholly ours
 * nor wholly empty is refused: a new database must never take the place of an old one that lost a file.
 * @throws StartError with what is wrong and what to do.
 */
export async function holdsDatabase(directory: string): Promise<boolean> {
  const entries = await entriesOf(directory)
  if (entries === null || entries.length === 0) return false
  if (!entries.some(({ name }) => name === 'PG_VERSION')) {
    throw new StartError(`${directory} has files in it but no PG_VERSION, so it is no whole database. ${RESTORE}`)
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
    switch (codeOf(error)) {
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
      const size = `${part} has ${found.size} bytes in place of ${CONTROL_SIZE}`
      throw new StartError(`${directory} is damaged: ${size}. ${RESTORE}`)
    }
  }
}

/** As much as the first checkpoint writes at the least. */
const PROBE = Buffer.alloc(64 * 1024, 1)

/**
 * Writes a little and removes it again.
 * @throws StartError when nothing can be written there.
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

/** The failure of a file operation in plain words, with what to do. */
export function asStartError(error: unknown, directory: string): StartError {
  const why = reasons[codeOf(error)] ?? (error instanceof Error ? error.message : String(error))
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
  EIO: 'its disk fails (input/output error). Check the disk, and restore the directory from a backup.',
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** With less than this PostgreSQL cannot write what it writes at a start: a segment of its log. */
const LEAST_SPACE = 16 * 1024 * 1024

/**
 * Why the database did not open, in plain words with what to do: when PostgreSQL ends while it starts, the build that runs
 * here says no more than that it ended.
 */
export async function whyNotOpened(error: unknown, directory: string): Promise<StartError> {
  if (error instanceof StartError) return error
  if (codeOf(error) in reasons) return asStartError(error, directory)
  const space = await statfs(directory).catch(() => null)
  if (space !== null && space.bavail * space.bsize < LEAST_SPACE) {
    return new StartError(`${directory} cannot be used: ${reasons['ENOSPC']}`, { cause: error })
  }
  const message = error instanceof Error ? error.message : String(error)
  const hasEnded = /Aborted\(|unreachable|memory access|ended with|exit\(|failed to initialize/.test(message)
  const why = hasEnded ? 'PostgreSQL cannot start from its files' : message.replace(/\.$/, '')
  return new StartError(`${directory} is damaged: ${why}. ${RESTORE}`, { cause: error })
}
