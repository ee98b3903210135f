import type pg from 'pg'
import { organizations } from '../../account/views.ts'
import type { PartedClaim } from '../../database/lease/lease.ts'
import { partedClaim } from '../../database/lease/lease.ts'
import type { Monitor, Watch } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { Tier } from '../../generated/prisma/enums.ts'
import type { Thresholds, WatchMemory } from './judge.ts'
import { readRecent } from './judge.ts'
import { readStability } from './stability.ts'
import type { Schedule } from './staleness.ts'
import { scheduleOf } from './staleness.ts'

/** A consistent snapshot of a watch and the fields of its monitor that a probe needs. */
export interface DueWatch {
  readonly id: string
  readonly region: string
  /** The due time. A result counts only while the watch still has it; claiming, editing and pausing change it. */
  readonly dueAt: Date
  readonly memory: WatchMemory
  readonly lastKnownAt: Date | null
  readonly unknownSince: Date | null
  /** When the open runs of a heartbeat's job started, oldest first. */
  readonly runs: readonly Date[]
  readonly schedule: Schedule
  readonly monitor: Thresholds &
    Pick<Monitor, 'id' | 'organizationId' | 'name' | 'kind' | 'options' | 'agreement' | 'version' | 'createdAt'>
}

type Row = Pick<Watch, 'id' | 'region' | 'stateSince' | 'recent' | 'stability' | 'lastKnownAt' | 'unknownSince'> &
  Pick<Monitor, 'intervalSeconds' | 'timeoutMs'> & {
    readonly dueAt: Date
    readonly runs: Date[] | null
    readonly state: WatchMemory['state']
    readonly monitorId: string
    readonly tier: Tier
  } & Omit<DueWatch['monitor'], 'id'>

/** The starts of a watch's open runs; see heartbeat/runs.ts. */
const RUNS = Prisma.sql`
  CASE WHEN watch."startedAt" IS NOT NULL THEN ARRAY(
    SELECT watch."startedAt" UNION
    SELECT run."startedAt" FROM "HeartbeatRun" AS run WHERE run."watchId" = watch.id AND run."startedAt" > watch."startedAt"
    ORDER BY 1) END`

/** Selects active watches of a table that has all columns of watches. @param more columns to select besides. */
function watchesIn(table: Prisma.Sql, more: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
  SELECT ${more} watch.id, watch.region, watch."dueAt", watch.state, watch."stateSince", watch.recent, watch.stability, watch."lastKnownAt",
    watch."unknownSince", ${RUNS} AS runs, monitor.agreement, monitor.id AS "monitorId", monitor."organizationId", monitor.name, monitor.kind, monitor.options, monitor.version,
    monitor."createdAt", monitor."intervalSeconds", monitor."timeoutMs", monitor."failureThreshold",
    monitor."recoveryThreshold", organization.tier
  FROM ${table} AS watch
  JOIN "Monitor" AS monitor ON monitor.id = watch."monitorId"
  JOIN ${organizations} AS organization ON organization.id = monitor."organizationId"
  WHERE watch."dueAt" IS NOT NULL AND organization."deletedAt" IS NULL`
}

/** Reads active watches by id, in any order. Bypasses Prisma, because this runs constantly. */
export async function readWatches(pool: Pick<pg.Pool, 'query'>, ids: readonly string[]): Promise<DueWatch[]> {
  const { text } = Prisma.sql`${watchesIn(Prisma.raw('"Watch"'), Prisma.empty)} AND watch.id = ANY (${ids})`
  const { rows } = await pool.query<Row>({ name: 'read watches', text, values: [ids] })
  return rows.map(watchOf)
}

/** A watch that was claimed, and when it was due. */
export interface ClaimedWatch {
  readonly row: DueWatch
  readonly dueAt: Date
}

/** Claims due watches, and reads those that are active, with one statement. */
export async function claimWatches(pool: Pick<pg.Pool, 'query'>, claim: PartedClaim): Promise<ClaimedWatch[]> {
  const { text, values } = Prisma.sql`WITH ${partedClaim(claim)}
    ${watchesIn(Prisma.raw('claimed'), Prisma.sql`watch.was, `)}`
  // Without a name: the plan depends on how many watches are due.
  const { rows } = await pool.query<Row & { readonly was: Date }>({ text, values })
  return rows.map((row) => ({ row: watchOf(row), dueAt: row.was }))
}

function watchOf(row: Row): DueWatch {
  const { id, region, dueAt, state, stateSince, lastKnownAt, monitorId, organizationId, name, kind, options } = row
  const { version, createdAt, agreement, failureThreshold, recoveryThreshold } = row
  // One missed heartbeat is enough, because a heartbeat has a grace period (contract §6).
  const thresholds = kind === 'HEARTBEAT' ? heartbeatThresholds : { failureThreshold, recoveryThreshold }
  return {
    id,
    region,
    dueAt,
    memory: { state, stateSince, recent: readRecent(row.recent), stability: readStability(row.stability) },
    lastKnownAt,
    unknownSince: row.unknownSince,
    runs: row.runs ?? [],
    schedule: scheduleOf(row, row.tier),
    monitor: { id: monitorId, organizationId, name, kind, options, agreement, version, createdAt, ...thresholds },
  }
}

const heartbeatThresholds: Thresholds = { failureThreshold: 1, recoveryThreshold: 1 }
