import type pg from 'pg'
import type { Monitor, Watch } from '../generated/prisma/client.ts'
import type { Tier } from '../generated/prisma/enums.ts'
import type { Memory, Thresholds } from './judge.ts'
import { readRecent } from './judge.ts'
import { readSteadiness } from './steadiness.ts'
import type { Rhythm } from './vouching.ts'
import { rhythmOf } from './vouching.ts'

/** A watch, and of its monitor what a check of it needs, as they were at one moment. */
export interface DueWatch {
  readonly id: string
  readonly region: string
  /** A check counts only while the watch's due time is still this: whoever takes, edits or pauses it changes that. */
  readonly dueAt: Date
  readonly memory: Memory
  readonly lastKnownAt: Date | null
  readonly unknownSince: Date | null
  readonly rhythm: Rhythm
  readonly monitor: Thresholds &
    Pick<Monitor, 'id' | 'organizationId' | 'name' | 'kind' | 'options' | 'agreement' | 'version' | 'createdAt'>
}

type Row = Pick<Watch, 'id' | 'region' | 'stateSince' | 'recent' | 'steadiness' | 'lastKnownAt' | 'unknownSince'> &
  Pick<Monitor, 'intervalSeconds' | 'timeoutMs'> & {
    readonly dueAt: Date
    readonly state: Memory['state']
    readonly monitorId: string
    readonly tier: Tier
  } & Omit<DueWatch['monitor'], 'id'>

const READ = `
  SELECT watch.id, watch.region, watch."dueAt", watch.state, watch."stateSince", watch.recent, watch.steadiness, watch."lastKnownAt",
    watch."unknownSince", monitor.agreement, monitor.id AS "monitorId", monitor."organizationId", monitor.name, monitor.kind, monitor.options, monitor.version,
    monitor."createdAt", monitor."intervalSeconds", monitor."timeoutMs", monitor."failureThreshold",
    monitor."recoveryThreshold", organization.tier
  FROM "Watch" AS watch
  JOIN "Monitor" AS monitor ON monitor.id = watch."monitorId"
  JOIN "Organization" AS organization ON organization.id = monitor."organizationId"
  WHERE watch.id = ANY($1) AND watch."dueAt" IS NOT NULL AND organization."deletedAt" IS NULL`

/** The watches with these ids that are watched at all, in no order. One statement, past Prisma: it is asked all the time. */
export async function readWatches(pool: Pick<pg.Pool, 'query'>, ids: readonly string[]): Promise<DueWatch[]> {
  const { rows } = await pool.query<Row>({ name: 'read watches', text: READ, values: [ids] })
  return rows.map((row) => {
    const { id, region, dueAt, state, stateSince, lastKnownAt, monitorId, organizationId, name, kind, options } = row
    const { version, createdAt, agreement, failureThreshold, recoveryThreshold } = row
    // A heartbeat's tolerance is its grace (contract §6): it is missed once, or not at all.
    const thresholds = kind === 'HEARTBEAT' ? once : { failureThreshold, recoveryThreshold }
    return {
      id,
      region,
      dueAt,
      memory: { state, stateSince, recent: readRecent(row.recent), steadiness: readSteadiness(row.steadiness) },
      lastKnownAt,
      unknownSince: row.unknownSince,
      rhythm: rhythmOf(row, row.tier),
      monitor: { id: monitorId, organizationId, name, kind, options, agreement, version, createdAt, ...thresholds },
    }
  })
}

const once: Thresholds = { failureThreshold: 1, recoveryThreshold: 1 }
