import { chmod, lstat } from 'node:fs/promises'
import { join } from 'node:path'

/** The file in a data directory that holds the key of the installation. */
export const KEY_FILE = 'secret.key'

/** The mode bit of shared directories, such as /tmp, which stay unchanged. */
const STICKY = 0o1000

/**
 * Removes other users' access to an existing data directory and the key in it. Ignores what the
 * file system or the owner does not permit.
 */
export async function restrictDirectory(directory: string): Promise<void> {
  await restrict(directory, 0o700)
  await restrict(join(directory, KEY_FILE), 0o600)
}

async function restrict(path: string, mode: number): Promise<void> {
  try {
    const found = await lstat(path)
    const isOpen = (found.mode & 0o777 & ~mode) !== 0
    if (isOpen && (found.mode & STICKY) === 0 && !found.isSymbolicLink()) await chmod(path, found.mode & mode)
  } catch {
    // It does not exist, or belongs to another user.
  }
}
