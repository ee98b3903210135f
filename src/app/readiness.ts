import type { ScheduledBackups } from '../backup/schedule.ts'
import type { MountedFile } from '../configuration/mounted-file.ts'
import type { LoopState } from '../core/concurrency/poll-loop.ts'
import type { DatabaseHandle } from '../database/client.ts'
import type { Readiness } from '../http/health-routes.ts'
import type { Monitoring } from '../monitoring/schedule/start-monitoring.ts'
import type { AdvisoryHealth } from './advisory-health.ts'
import type { Background } from './background.ts'

/** The state that changes while the process runs. */
export interface Progress {
  /** Null: not started, or a process that only serves. */
  background: Background | null
  isStopping: boolean
}

/**
 * Returns a function that reads whether the process can serve and work (`/readyz`).
 * @param parts.serves whether it serves visitors. Without a database it still serves pages from memory; a worker does
 * nothing then.
 * @param parts.backups null: this process makes none. @param parts.configurationFile null: it applies none.
 */
export function createReadiness(parts: {
  readonly serves: boolean
  readonly progress: Readonly<Progress>
  readonly database: Pick<DatabaseHandle, 'trouble' | 'isLocked'>
  readonly monitoring: Pick<Monitoring, 'check' | 'schedulerState'>
  readonly advisoryHealth: AdvisoryHealth
  readonly backups: Pick<ScheduledBackups, 'state'> | null
  readonly configurationFile: Pick<MountedFile, 'state'> | null
}): () => Promise<Readiness> {
  const { serves, progress, database, monitoring, advisoryHealth, backups, configurationFile } = parts
  return async () => {
    const { background } = progress
    const trouble = await database.trouble()
    // Sleeping loops detect no failure.
    if (trouble === null) await Promise.all([monitoring.check(), background?.check()])
    const [probing, delivering] = await Promise.all([
      loopHealth(monitoring.schedulerState(), database),
      loopHealth(background?.deliveryState(), database),
    ])
    const works = { database: trouble, probing, delivering, process: progress.isStopping ? 'stopping' : undefined }
    const upkeep = { backup: backups?.state(), configuration: configurationFile?.state() }
    const { canWrite, checks } = readinessOf(works, upkeep)
    const canServe = serves ? !progress.isStopping : canWrite
    return { canServe, canWrite, checks: { ...checks, ...(trouble === null && (await advisoryHealth())) } }
  }
}

/** Returns the state of a loop for `/readyz`. A busy loop is ok unless it waits for a locked table. */
async function loopHealth(
  state: LoopState | undefined,
  { isLocked }: Pick<DatabaseHandle, 'isLocked'>,
): Promise<string | undefined> {
  if (state !== 'busy' && state !== 'stopped') return state
  if (await isLocked()) return 'locked'
  return state === 'busy' ? 'ok' : state
}

/**
 * Returns whether a process can do its work, from the states of its parts; null and `ok`: no problem. Failed upkeep, such
 * as backups, is reported, but stops no work.
 */
function readinessOf(
  states: Readonly<Record<string, string | null | undefined>>,
  upkeep: Readonly<Record<string, { readonly failure: object | null } | undefined>>,
): Omit<Readiness, 'canServe'> {
  const checks = Object.fromEntries(
    Object.entries(states).flatMap(([part, state]) => (state === undefined ? [] : [[part, state ?? 'ok']])),
  )
  const canWrite = Object.values(checks).every((state) => state === 'ok')
  const kept = Object.entries(upkeep).flatMap(([part, state]) =>
    state ? [[part, state.failure ? 'failing' : 'ok'] as const] : [],
  )
  return { canWrite, checks: { ...checks, ...Object.fromEntries(kept) } }
}
