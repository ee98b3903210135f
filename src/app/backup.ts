import { isEncrypted as hasPassphrase } from '../backup/archive.ts'
import type { Restored } from '../backup/backup.ts'
import { restore as read, backUp as write } from '../backup/backup.ts'
import type { Moved, MoveWatcher } from '../backup/move.ts'
import { move as run } from '../backup/move.ts'
import { readConfig } from '../core/config.ts'
import { StartError } from '../core/errors.ts'

interface Options {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly passphrase: string | null
}

/** Backs up the database of these settings. @returns why it failed; null: it succeeded. */
export function backUp(
  file: string,
  { env, passphrase, now }: Options & { readonly now: Date },
): Promise<string | null> {
  return orReason(async () => {
    await write(file, readConfig({ ...env }), { passphrase, now })
    return null
  })
}

/** Restores a backup into the database of these settings. @returns the result, or why it failed. */
export function restore(file: string, { env, passphrase }: Options): Promise<Restored | string> {
  return orReason(() => read(file, readConfig({ ...env }), passphrase))
}

/** Returns whether a backup is encrypted, or why it cannot be read. */
export function isEncrypted(file: string): Promise<boolean | string> {
  return orReason(() => hasPassphrase(file))
}

/** Moves the database of these settings to an empty destination. @returns the result, or why it failed. */
export function move(
  place: string,
  { env, watcher }: Pick<Options, 'env'> & { readonly watcher: MoveWatcher },
): Promise<Moved | string> {
  return orReason(() => run(readConfig({ ...env }), place, watcher))
}

/** The error classes of this bundle differ from those of the program that loads it. */
async function orReason<T>(run: () => Promise<T>): Promise<T | string> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof StartError) return error.message
    throw error
  }
}
