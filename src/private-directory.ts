import { chmod, lstat } from 'node:fs/promises'
import { join } from 'node:path'

/** The file in a data directory that holds the key of the installation. */
export const KEY_FILE = 'secret.key'

/** Others' files are under it, too, as in /tmp: it is not ours to close. */
const STICKY = 0o1000

/**
 * Closes an existing data directory to other users of the machine, and the key in it, however they were made. What the
 * file system or its owner does not allow stays as it is.
 */
export async function closeToOthers(directory: string): Promise<void> {
  await restrict(directory, 0o700)
  await restrict(join(directory, KEY_FILE), 0o600)
}

async function restrict(path: string, mode: number): Promise<void> {
  try {
    const found = await lstat(path)
    const isOpen = (found.mode & 0o777 & ~mode) !== 0
    if (isOpen && (found.mode & STICKY) === 0 && !found.isSymbolicLink()) await chmod(path, found.mode & mode)
  } catch {
    // It is not there, or not ours.
  }
}
