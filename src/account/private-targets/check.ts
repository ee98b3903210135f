import type { Logger } from 'pino'
import { withDeadline } from '../../core/concurrency/deadline.ts'
import { createLruMap } from '../../core/lru-map.ts'
import { SECOND } from '../../core/time.ts'
import type { DatabaseHandle } from '../../database/client.ts'
import type { PermissionSettings } from './permission.ts'
import { ALL, isAllowed, PERMISSION_NOTIFICATION, readPrivateTargets } from './permission.ts'

/** Answers whether organizations may reach private networks, before each connection. */
export interface PrivateTargetCheck {
  /**
   * Returns whether an owner may reach private networks now. Rejects if the database does not answer in time, because
   * the permission may have been withdrawn.
   * @param owner an organization's id; null: what no organization chose, which only the permission for all allows.
   */
  allows(owner: string | null): Promise<boolean>
  /** Forgets the permission of an organization, or with `all` those of all. */
  forget(id: string): void
  close(): Promise<void>
}

/** How long a permission is known: without notifications, one that was withdrawn still holds for this long. */
const MAX_AGE_MS = 2 * SECOND
/** How long a connection waits for the database, in milliseconds. */
const DEADLINE_MS = 2 * SECOND
const CACHE_SIZE = 10_000

/** Creates a check that hears of changes by notifications. @throws when `LISTEN` fails. */
export async function createPrivateTargetCheck({
  database,
  config,
  log,
  clock = () => performance.now(),
}: {
  readonly database: Pick<DatabaseHandle, 'prisma' | 'listen'>
  readonly config: PermissionSettings
  readonly log: Pick<Logger, 'warn'>
  /** Monotonic milliseconds. */
  readonly clock?: () => number
}): Promise<PrivateTargetCheck> {
  const known = createLruMap<{ readonly answer: Promise<boolean>; readonly until: number }>(CACHE_SIZE)

  function forget(id: string): void {
    if (id === ALL) known.clear()
    else known.delete(id)
  }

  /** Reads a permission. Those who ask while it is read share it, unless it has changed in the meantime. */
  function read(owner: string | null, key: string): Promise<boolean> {
    const reading = readPrivateTargets({ db: database.prisma, config }, owner).then(isAllowed)
    const answer = withDeadline(DEADLINE_MS, 'Reading a permission', reading)
    const entry = { answer, until: clock() + MAX_AGE_MS }
    known.set(key, entry)
    answer.catch((error: unknown) => {
      if (known.get(key) === entry) known.delete(key)
      log.warn({ err: error }, 'account: could not read whether private targets are allowed')
    })
    return answer
  }

  const stopListening = await database.listen(PERMISSION_NOTIFICATION, (id) => forget(id ?? ALL))
  return {
    allows(owner) {
      if (config.ALLOW_PRIVATE_NETWORKS) return Promise.resolve(true)
      const key = owner ?? ''
      const entry = known.get(key)
      return entry !== undefined && clock() < entry.until ? entry.answer : read(owner, key)
    },
    forget,
    close: stopListening,
  }
}
