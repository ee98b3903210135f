import { constants, copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../core/error-code.ts'

/** The copies of this process. */
const own = new Set<string>()

/**
 * Runs work on a private copy of a database, and removes the copy afterwards.
 * @param file the content, or the path of a file, whose write-ahead log is copied too.
 */
export async function withPrivateCopy<T>(
  file: Uint8Array | string,
  work: (path: string) => Promise<T> | T,
): Promise<T> {
  await removeLeftCopies()
  // The process id shows whether the process that made it still runs.
  const directory = await mkdtemp(join(tmpdir(), `allclear-import-${process.pid}-`))
  own.add(directory)
  const path = join(directory, 'database')
  try {
    if (typeof file === 'string') await copyDatabase(file, path)
    else await writeFile(path, file)
    return await work(path)
  } finally {
    await rm(directory, { recursive: true, force: true })
    own.delete(directory)
  }
}

/** Removes the copies of processes that were killed. Those of other users stay. */
export async function removeLeftCopies(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = /^allclear-import-(\d+)-\w+$/.exec(name) ?? []
    const directory = join(tmpdir(), name)
    if (pid === undefined || own.has(directory) || isOther(Number(pid))) continue
    await rm(directory, { recursive: true, force: true }).catch(() => {})
  }
}

/** Returns whether another process runs under an id. In a container, a new process gets the id of the one before. */
function isOther(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

async function copyDatabase(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE)
  try {
    await copyFile(`${from}-wal`, `${to}-wal`, constants.COPYFILE_FICLONE)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
