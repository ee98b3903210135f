import type { Logger } from 'pino'
import { newId } from '../../src/core/id.ts'
import type { Metrics } from '../../src/core/telemetry/metrics.ts'
import { createMetrics } from '../../src/core/telemetry/metrics.ts'
import { SECOND } from '../../src/core/time.ts'
import type { DatabaseHandle } from '../../src/database/client.ts'
import type { LeasedWorker } from '../../src/database/lease/leased-worker.ts'
import type { Monitor, MonitorInterval, Prisma } from '../../src/generated/prisma/client.ts'
import type { ProbeOutcome } from '../../src/generated/prisma/enums.ts'
import { resetWatches, watchId } from '../../src/monitoring/monitor/watches.ts'
import type { ProbeResult } from '../../src/monitoring/result/probe-result.ts'
import { probeResult } from '../../src/monitoring/result/probe-result.ts'
import { createResultWriter, type ResultWriter } from '../../src/monitoring/result/result-writer.ts'
import { createScheduler, type RunProbe } from '../../src/monitoring/schedule/scheduler.ts'
import { reconcileMonitors } from '../../src/monitoring/state/reconcile-monitors.ts'
import { enterState } from '../../src/monitoring/uptime/state-intervals.ts'
import { noon, testContext } from '../support/context.ts'
import { silent } from '../support/scratch.ts'

/** A worker under test, which polls on demand. */
interface TestWorker {
  readonly scheduler: LeasedWorker
  readonly resultWriter: ResultWriter
  readonly metrics: Metrics
  /** Polls once, and waits until all results are stored and reconciled. */
  tick(): Promise<void>
}

/** Monitors and workers with a clock that a test sets. */
export interface Watching {
  /** The current time, in seconds after noon. */
  time: number
  readonly now: () => Date
  /** Returns the date at this number of seconds after noon. */
  at(seconds: number): Date
  /** Outcomes by monitor id and region, or by id alone. The default is `UP`. */
  readonly finds: Map<string, ProbeOutcome | ProbeResult>
  /**
   * Creates a monitor with watches in the existing regions. Its interval is 60 s, and it is DOWN after two failures.
   */
  monitor(organizationId: string, given?: Partial<Prisma.MonitorUncheckedCreateInput>): Promise<Monitor>
  /** Creates many monitors in the region `local`. Returns the ids of their watches. */
  monitors(organizationId: string, count: number): Promise<string[]>
  worker(given?: {
    region?: string
    run?: RunProbe
    log?: Logger
    pool?: Pick<DatabaseHandle['pool'], 'query'>
    concurrency?: number
  }): TestWorker
  /** Advances the clock in steps. The workers poll after each. */
  pass(seconds: number, workers: readonly TestWorker[], step?: number): Promise<void>
  /** Returns a monitor's intervals as state and seconds from noon. */
  intervals(id: string): Promise<string[]>
}

export function watchingIn(database: Pick<DatabaseHandle, 'prisma' | 'pool'>): Watching {
  const { prisma, pool } = database
  const at = (seconds: number) => new Date(noon.getTime() + seconds * SECOND)
  const now = () => at(watching.time)
  const finds: Watching['finds'] = new Map()

  const find: RunProbe = async ({ monitor, region }) => {
    const each = finds.get(`${monitor.id}@${region}`) ?? finds.get(monitor.id) ?? 'UP'
    return typeof each === 'string'
      ? probeResult(each, `It is ${each}.`, { latencyMs: each === 'UP' ? 20 : null })
      : each
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
      await resetWatches(ctx, monitor)
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
    worker({ region = 'local', run = find, log = silent, pool: through = pool, concurrency = 1000 } = {}) {
      const ctx = testContext(prisma, { now, log, settings: { REGION: region } })
      const metrics = createMetrics()
      const resultWriter = createResultWriter({
        db: prisma,
        metrics,
        now,
        log,
        reconcile: (organizationId, ids) => reconcileMonitors(ctx, organizationId, ids),
        gatherMs: 0,
      })
      const scheduler = createScheduler({ ctx, pool: through, resultWriter, run, metrics, concurrency })
      return {
        scheduler,
        resultWriter,
        metrics,
        async tick() {
          await scheduler.poll()
          await scheduler.idle()
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
