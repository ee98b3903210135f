import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import type { LoopState, PollLoop } from '../../core/concurrency/poll-loop.ts'
import { startPollLoop, worseState } from '../../core/concurrency/poll-loop.ts'
import type { Context } from '../../core/context.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import type { Metrics } from '../../core/telemetry/metrics.ts'
import { MINUTE, SECOND } from '../../core/time.ts'
import type { DatabaseHandle } from '../../database/client.ts'
import type { Agenda } from '../../database/lease/agenda.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import type { Configuration } from '../monitor/options.ts'
import { openOptions } from '../monitor/options.ts'
import { runProbe } from '../monitor/run-probe.ts'
import type { ProbeTools } from '../probe/probe.ts'
import type { ProbeDetail } from '../result/probe-result.ts'
import { probeResult } from '../result/probe-result.ts'
import type { ResultFeed } from '../result/result-feed.ts'
import { openResultFeed } from '../result/result-feed.ts'
import type { ResultWriter } from '../result/result-writer.ts'
import { createResultWriter } from '../result/result-writer.ts'
import { reconcileMonitors } from '../state/reconcile-monitors.ts'
import { reconcileStaleness, reconcileStalenessInTurn } from '../state/staleness-job.ts'
import type { DueWatch } from '../watch/due-watch.ts'
import type { Reception } from '../watch/reception.ts'
import { createReception } from '../watch/reception.ts'
import { resolverAnswers } from './connectivity.ts'
import { listenForProbes } from './probe-events.ts'
import type { RunProbe } from './scheduler.ts'
import { createScheduler } from './scheduler.ts'

/** The parts of monitoring that GraphQL and HTTP use. */
interface MonitoringParts {
  readonly resultWriter: ResultWriter
  readonly resultFeed: ResultFeed
  readonly pool: pg.Pool
  readonly reception: Reception
}

/** The running monitoring of a process. */
export interface Monitoring {
  readonly parts: MonitoringParts
  /** Records that this process receives heartbeats, unless the role is `worker`. Call it once the server listens. */
  startReceiving(): Promise<void>
  /** Starts probing, unless the role is `web`. The first statements are slow. */
  startProbing(): void
  /** Returns the health of probing; undefined: this process does not probe. */
  schedulerState(): LoopState | undefined
  /** Polls for due watches, so that `schedulerState` is current. */
  check(): Promise<void>
  /** Ends running probes, stores and reconciles their results, and closes every stream. */
  close(): Promise<void>
}

/**
 * Starts monitoring. Every process stores results, because each may receive heartbeats, and reconciles staleness.
 * Probing starts with `startProbing`.
 * @throws when the process cannot listen for database notifications.
 */
export async function startMonitoring(options: {
  /** The context of the system. */
  readonly ctx: ChangeContext & { readonly db: PrismaClient }
  readonly database: DatabaseHandle
  readonly seal: SecretBox
  readonly tools: ProbeTools
  readonly metrics: Metrics
  readonly agenda: Agenda
}): Promise<Monitoring> {
  const { ctx, database, seal, tools, metrics, agenda } = options
  const { config, log, now } = ctx
  const { pool } = database
  let wake = () => {}
  const resultWriter = createResultWriter({
    db: ctx.db,
    async reconcile(organizationId, ids) {
      if (await reconcileMonitors(ctx, organizationId, ids)) wake()
    },
    metrics,
    now,
    log,
  })
  const resultFeed = await openResultFeed({ database, log })
  const reception = createReception({ pool, now, log })
  const startReceiving = () => (config.ROLE === 'worker' ? Promise.resolve() : reception.start())
  const parts = { resultWriter, resultFeed, pool, reception }
  const stalenessJob = await startStalenessJob(ctx)
  const stopWatching = await listenForProbes(database, stalenessJob.wake)
  if (config.ROLE === 'web') {
    return {
      parts,
      startReceiving,
      startProbing: () => {},
      schedulerState: () => undefined,
      check: async () => {},
      async close() {
        await reception.stop()
        await stopWatching()
        await stalenessJob.stop()
        await resultFeed.close()
        await resultWriter.close()
      },
    }
  }
  const isNetworkUp = () => resolverAnswers(tools.dns)
  const scheduler = createScheduler({
    ctx,
    pool,
    resultWriter,
    metrics,
    reception,
    isNetworkUp,
    agenda,
    run: createProbeRunner(ctx, seal, tools),
  })
  wake = scheduler.wake
  const stopListening = await listenForProbes(database, scheduler.wake)
  return {
    parts,
    startReceiving,
    startProbing: scheduler.start,
    check: scheduler.check,
    schedulerState: () => worseState(scheduler.state(), resultWriter.state()),
    async close() {
      await reception.stop()
      await stopListening()
      await scheduler.close()
      await stopWatching()
      await stalenessJob.stop()
      await resultFeed.close()
      await resultWriter.close()
    },
  }
}

/** The interval of the staleness job, in milliseconds, with and without active monitors. Events also wake the job. */
const STALENESS_INTERVAL_MS = 5 * SECOND
const IDLE_INTERVAL_MS = MINUTE

/**
 * Reconciles staleness periodically. Completes the first run before returning, so that new results cannot hide
 * staleness.
 */
async function startStalenessJob(ctx: ChangeContext): Promise<PollLoop> {
  const failed = 'monitoring: could not reconcile staleness; retrying'
  await reconcileStaleness(ctx).catch((error: unknown) => ctx.log.error({ err: error }, failed))
  let isFirst = true
  const again = async () => {
    const isWatching = isFirst || (await reconcileStalenessInTurn(ctx))
    isFirst = false
    return isWatching ? STALENESS_INTERVAL_MS : IDLE_INTERVAL_MS
  }
  const options = { retryMs: STALENESS_INTERVAL_MS, minPauseMs: STALENESS_INTERVAL_MS, log: ctx.log }
  return startPollLoop(again, { ...options, failureMessage: failed })
}

/** The maximum number of decrypted options to cache. Decrypting them costs more than scheduling a probe. */
const MAX_CACHED = 20_000

/** Creates the function that runs the probe of a watch. */
function createProbeRunner(ctx: Context, seal: SecretBox, tools: ProbeTools): RunProbe {
  const opened = new LRUCache<string, { readonly version: number; readonly configuration: Configuration }>({
    max: MAX_CACHED,
  })

  function configurationOf({ monitor }: DueWatch): Configuration {
    const known = opened.get(monitor.id)
    if (known?.version === monitor.version) return known.configuration
    const configuration = openOptions(seal, monitor)
    opened.set(monitor.id, { version: monitor.version, configuration })
    return configuration
  }

  return async (watch, signal) => {
    try {
      const { kind, options } = configurationOf(watch)
      if (kind === 'HEARTBEAT' || kind === 'GROUP') throw new Error(`A ${kind} has no probe.`)
      const lastDown = kind === 'BLACKLIST' ? await readLastDown(ctx, watch) : null
      const { state } = watch.memory
      const owner = watch.monitor.organizationId
      const { timeoutMs } = watch.schedule
      return await runProbe(kind, options, { tools, owner, timeoutMs, signal, state, lastDown })
    } catch (error) {
      ctx.log.error({ err: error, watch: watch.id }, 'monitoring: could not run a probe')
      return probeResult('UNKNOWN', 'The probe failed because of an internal error, which we have logged.')
    }
  }
}

/**
 * Returns the detail of the last DOWN result while a watch is down; null: it is not down, or the result has no detail.
 */
async function readLastDown({ db }: Context, { memory, monitor }: DueWatch): Promise<ProbeDetail | null> {
  if (memory.state !== 'DOWN') return null
  const last = await db.probeResult.findFirst({
    where: { monitorId: monitor.id, outcome: 'DOWN', at: { gte: memory.stateSince } },
    orderBy: { at: 'desc' },
    select: { detail: true },
  })
  return last ? (last.detail as ProbeDetail | null) : null
}
