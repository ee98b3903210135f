import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../core/config.ts'
import type { Clock } from '../core/time.ts'
import { HOUR } from '../core/time.ts'
import { verifyArchive } from './archive.ts'
import { type BackupSettings, backUp } from './backup.ts'

/** The state of scheduled backups. */
export interface BackupState {
  /** When the newest one was made; null: none exists, or unknown yet. */
  readonly lastAt: Date | null
  /** The size of the newest one. */
  readonly bytes: number
  /** The number of failed attempts since the start. */
  readonly failures: number
  /** The failure of the last attempt; null: it succeeded. */
  readonly failure: { readonly at: Date; readonly message: string } | null
}

/** Makes scheduled backups. */
export interface ScheduledBackups {
  readonly isEncrypted: boolean
  state(): BackupState
  /**
   * Makes a backup if one is due, verifies it, and deletes the oldest ones over the limit.
   * @returns the milliseconds until the next call.
   * @throws if the backup failed. Existing backups stay.
   */
  run(): Promise<number>
}

type Settings = BackupSettings &
  Pick<Config, 'BACKUP_DIR' | 'BACKUP_EVERY_HOURS' | 'BACKUP_KEEP' | 'ALLCLEAR_BACKUP_PASSPHRASE'>

/** Matches our files; others in the directory stay untouched. Files of interrupted runs have an additional suffix. */
const OWN = /^allclear-(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)Z\.backup(\.(?:unfinished|snapshot))?$/

/** Schedules backups; null if the settings have no directory. File names contain the times of backups. */
export function scheduleBackups(settings: Settings, clock: Clock): ScheduledBackups | null {
  return settings.BACKUP_DIR === undefined ? null : schedule(settings.BACKUP_DIR, settings, clock)
}

function schedule(directory: string, settings: Settings, clock: Clock): ScheduledBackups {
  const { BACKUP_KEEP, ALLCLEAR_BACKUP_PASSPHRASE } = settings
  const every = settings.BACKUP_EVERY_HOURS * HOUR
  let state: BackupState = { lastAt: null, bytes: 0, failures: 0, failure: null }

  async function runDue(now: Date): Promise<number> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const found = await readBackups(directory)
    // Ignore backups dated in the future, made while the clock was wrong.
    const last = found.find(({ at }) => at <= now)
    const isDue = last === undefined || last.at.getTime() + every <= now.getTime()
    const newest = isDue ? await makeBackup(now) : last
    if (isDue) await deleteFiles(found.slice(BACKUP_KEEP - 1))
    const { size } = await stat(newest.file)
    state = { ...state, lastAt: newest.at, bytes: size, failure: null }
    return Math.min(newest.at.getTime() + every - now.getTime(), HOUR)
  }

  async function makeBackup(now: Date): Promise<Backup> {
    const at = new Date(Math.floor(now.getTime() / 1000) * 1000)
    const file = join(directory, `allclear-${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z.backup`)
    const passphrase = ALLCLEAR_BACKUP_PASSPHRASE ?? null
    await backUp(file, settings, { passphrase, now })
    try {
      await verifyArchive(file, passphrase)
    } catch (error) {
      await rm(file, { force: true })
      throw error
    }
    return { file, at }
  }

  return {
    isEncrypted: ALLCLEAR_BACKUP_PASSPHRASE !== undefined,
    state: () => state,
    async run() {
      const now = clock()
      try {
        return await runDue(now)
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        state = { ...state, failures: state.failures + 1, failure: { at: now, message } }
        throw error
      }
    },
  }
}

interface Backup {
  readonly file: string
  readonly at: Date
}

/** Returns the backups of a directory, newest first. Deletes leftovers of interrupted runs. */
async function readBackups(directory: string): Promise<Backup[]> {
  const backups: Backup[] = []
  for (const name of await readdir(directory)) {
    const [, hour, minute, second, isLeft] = OWN.exec(name) ?? []
    if (hour === undefined) continue
    const file = join(directory, name)
    if (isLeft === undefined) backups.push({ file, at: new Date(`${hour}:${minute}:${second}Z`) })
    else await rm(file, { recursive: true, force: true })
  }
  return backups.sort((one, other) => other.at.getTime() - one.at.getTime())
}

async function deleteFiles(backups: readonly Backup[]): Promise<void> {
  for (const { file } of backups) await rm(file, { force: true })
}
