import { constants, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs work on a private copy of a database, and removes the copy afterwards.
 * @param file the content, or the path of a file, whose write-ahead log is copied too.
 */
export async function withPrivateCopy<T>(
  file: Uint8Array | string,
  work: (path: string) => Promise<T> | T,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'allclear-import-'))
  const path = join(directory, 'database')
  try {
    if (typeof file === 'string') await copyDatabase(file, path)
    else await writeFile(path, file)
    return await work(path)
  } finally {
    await rm(directory, { recursive: true, force: true })
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
