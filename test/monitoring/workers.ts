import type { Logger } from 'pino'
import type { DatabaseHandle } from '../../src/database/client.ts'
import type { Monitor, MonitorInterval, Prisma } from '../../src/generated/prisma/client.ts'
import type { ProbeOutcome } from '../../src/generated/prisma/enums.ts'
import { newId } from '../../src/id.ts'
import type { Metrics } from '../../src/metrics.ts'
import { createMetrics } from '../../src/metrics.ts'
import type { Finding } from '../../src/monitoring/finding.ts'
import { found } from '../../src/monitoring/finding.ts'
import { enterState } from '../../src/monitoring/interval.ts'
import { createRecorder, type Recorder } from '../../src/monitoring/recorder.ts'
import { createRound, type Round, type RunCheck } from '../../src/monitoring/round.ts'
import { settle } from '../../src/monitoring/settle.ts'
import { openWatches, watchId } from '../../src/monitoring/watch.ts'
import { SECOND } from '../../src/time.ts'
import { noon, testContext } from '../support/context.ts'
import { silent } from '../support/scratch.ts'

/** A worker under test, which looks for work when it is told to. */
export interface TestWorker {
  readonly round: Round
  readonly recorder: Recorder
  readonly metrics: Metrics
  /** Looks once, and waits until what it started is stored and settled. */
  tick(): Promise<void>
}

/** Monitors and workers with a clock that a test sets. */
export interface Watching {
  /** Seconds after noon. */
  time: number
  readonly now: () => Date
  /** The same as a date. */
  at(seconds: number): Date
  /** What probes find, by the monitor's id and the region, or the id alone; `UP` when nothing is said. */
  readonly finds: Map<string, ProbeOutcome | Finding>
  /** Adds a monitor that is watched from the regions that are there; every 60 s, down after two failures. */
  monitor(organizationId: string, given?: Partial<Prisma.MonitorUncheckedCreateInput>): Promise<Monitor>
  /** Adds many at once, watched from the region `local`; gives the ids of their watches. */
  monitors(organizationId: string, count: number): Promise<string[]>
  worker(given?: {
    region?: string
    run?: RunCheck
    log?: Logger
    pool?: Pick<DatabaseHandle['pool'], 'query'>
  }): TestWorker
  /** Lets so many seconds pass, in steps, in each of which the workers look in turn. */
  pass(seconds: number, workers: readonly TestWorker[], step?: number): Promise<void>
  /** A monitor's intervals in few words: state, and seconds from noon. */
  intervals(id: string): Promise<string[]>
}

export function watchingIn(database: Pick<DatabaseHandle, 'prisma' | 'pool'>): Watching {
  const { prisma, pool } = database
  const at = (seconds: number) => new Date(noon.getTime() + seconds * SECOND)
  const now = () => at(watching.time)
  const finds: Watching['finds'] = new Map()

  const find: RunCheck = async ({ monitor, region }) => {
    const each = finds.get(`${monitor.id}@${region}`) ?? finds.get(monitor.id) ?? 'UP'
    return typeof each === 'string' ? found(each, `It is ${each}.`, { latencyMs: each === 'UP' ? 20 : null }) : each
  }

  const watching: Watching = {
    time: 0,
    now,
    at,
    finds,
    async monitor(organizationId, given = {}) {
      const monitor = await prisma.monitor.create({
        data: {
          ...defaults(organizationId, now()),
          ...given,
        },
      })
      const ctx = testContext(prisma, { now })
      await enterState(ctx, monitor, 'PENDING', now())
      await openWatches(ctx, monitor, monitor.kind === 'BLACKLIST' || monitor.kind === 'HEARTBEAT')
      return monitor
    },
    async monitors(organizationId, count) {
      const rows = Array.from({ length: count }, (_, index) => ({
        ...defaults(organizationId, now()),
        id: newId('Monitor'),
        name: `${index}`,
      }))
      await prisma.monitor.createMany({ data: rows })
      const watches = rows.map(({ id }) => ({
        id: watchId(id, 'local'),
        monitorId: id,
        region: 'local',
        dueAt: now(),
        stateSince: now(),
      }))
      await prisma.watch.createMany({ data: watches })
      return watches.map(({ id }) => id)
    },
    worker({ region = 'local', run = find, log = silent, pool: through = pool } = {}) {
      const ctx = testContext(prisma, { now, log, settings: { REGION: region } })
      const metrics = createMetrics()
      const parts = { pool: through, metrics, now, log }
      const recorder = createRecorder({
        ...parts,
        settle: (organizationId, ids) => settle(ctx, organizationId, ids),
        gatherMs: 0,
      })
      const round = createRound({ ctx, pool: through, recorder, run, metrics, concurrency: 50 })
      return {
        round,
        recorder,
        metrics,
        async tick() {
          await round.look()
          await round.idle()
        },
      }
    },
    async pass(seconds, workers, step = 10) {
      const end = watching.time + seconds
      while (watching.time < end) {
        watching.time = Math.min(watching.time + step, end)
        for (const each of workers) await each.tick()
      }
    },
    async intervals(id) {
      const intervals = await prisma.monitorInterval.findMany({
        where: { monitorId: id },
        orderBy: { startedAt: 'asc' },
      })
      return intervals.map(inWords)
    },
  }
  return watching
}

function defaults(organizationId: string, now: Date) {
  return {
    id: newId('Monitor'),
    organizationId,
    name: 'Website',
    kind: 'TCP',
    options: {},
    intervalSeconds: 60,
    timeoutMs: 10_000,
    failureThreshold: 2,
    recoveryThreshold: 1,
    stateSince: now,
    createdAt: now,
  } as const
}

function inWords({ state, startedAt, endedAt }: MonitorInterval): string {
  const seconds = (time: Date) => (time.getTime() - noon.getTime()) / SECOND
  return `${state} ${seconds(startedAt)}–${endedAt === null ? '' : seconds(endedAt)}`
}
