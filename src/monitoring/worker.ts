import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import type { Context } from '../context.ts'
import type { DatabaseHandle } from '../database/client.ts'
import { LOG_CHANNEL } from '../eventlog/event.ts'
import type { PrismaClient } from '../generated/prisma/client.ts'
import type { Metrics } from '../metrics.ts'
import type { LoopState, Repetition } from '../repeat.ts'
import { repeat } from '../repeat.ts'
import type { Seal } from '../seal.ts'
import { SECOND } from '../time.ts'
import type { Checks } from './checks.ts'
import { openChecks } from './checks.ts'
import { resolverAnswers } from './connectivity.ts'
import type { DueWatch } from './due-watch.ts'
import type { Detail } from './finding.ts'
import { found } from './finding.ts'
import type { Configuration } from './options.ts'
import { openOptions } from './options.ts'
import type { ProbeTools } from './probe/probe.ts'
import { runProbe } from './probes.ts'
import type { Recorder } from './recorder.ts'
import { createRecorder } from './recorder.ts'
import type { RunCheck } from './round.ts'
import { createRound } from './round.ts'
import { settle } from './settle.ts'
import { tellSilence } from './silence-round.ts'

/** What doors are given of monitoring. */
export interface MonitoringParts {
  readonly recorder: Recorder
  readonly checks: Checks
  readonly pool: pg.Pool
}

/** Monitoring, running. */
export interface Monitoring {
  readonly parts: MonitoringParts
  /** How probing does; undefined: this process does not probe. */
  probing(): LoopState | undefined
  /** Ends the checks that run, stores and settles what was found, and ends every follower. */
  close(): Promise<void>
}

/**
 * Starts what records results and tells silence, which every process does, for heartbeats come to any, and somebody has to
 * say that nobody checks; and, unless its role is to serve only, what makes checks.
 * @throws when the database cannot be asked to listen.
 */
export async function startMonitoring(options: {
  /** The system's. */
  readonly ctx: Context & { readonly db: PrismaClient }
  readonly database: DatabaseHandle
  readonly seal: Seal
  readonly tools: ProbeTools
  readonly metrics: Metrics
}): Promise<Monitoring> {
  const { ctx, database, seal, tools, metrics } = options
  const { config, log, now } = ctx
  const { pool } = database
  const recorder = createRecorder({
    pool,
    settle: (organizationId, ids) => settle(ctx, organizationId, ids),
    metrics,
    now,
    log,
  })
  const checks = await openChecks({ database, log })
  const parts = { recorder, checks, pool }
  const telling = await startTellingSilence(ctx)
  if (config.ROLE === 'web') {
    return {
      parts,
      probing: () => undefined,
      async close() {
        await telling.stop()
        await checks.close()
        await recorder.close()
      },
    }
  }
  const works = () => resolverAnswers(tools.dns)
  const round = createRound({ ctx, pool, recorder, metrics, works, run: runnerOf(ctx, seal, tools) })
  const stopListening = await database.listen(LOG_CHANNEL, round.wake)
  round.start()
  return {
    parts,
    probing: round.state,
    async close() {
      await stopListening()
      await round.close()
      await telling.stop()
      await checks.close()
      await recorder.close()
    },
  }
}

/** How soon silence is told that has lasted long enough. */
const SILENCE_TOLD_WITHIN = 5 * SECOND

/** Tells silence from time to time; the first time before anything is served, or a check makes it forgotten. */
async function startTellingSilence(ctx: Context): Promise<Repetition> {
  const failed = 'monitoring: could not tell what nothing is known of; trying again'
  await tellSilence(ctx).catch((error: unknown) => ctx.log.error({ err: error }, failed))
  let isFirst = true
  const again = async () => {
    if (!isFirst) await tellSilence(ctx)
    isFirst = false
    return SILENCE_TOLD_WITHIN
  }
  return repeat(again, { retry: SILENCE_TOLD_WITHIN, log: ctx.log, failed })
}

/** Opened options are kept for as long as their monitor is what it was: reading them costs more than a check's due. */
const KEPT = 20_000

/** Runs the probes of watches. */
function runnerOf(ctx: Context, seal: Seal, tools: ProbeTools): RunCheck {
  const opened = new LRUCache<string, { readonly version: number; readonly configuration: Configuration }>({
    max: KEPT,
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
      if (kind === 'HEARTBEAT') throw new Error('A heartbeat is not probed.')
      const lastDown = kind === 'BLACKLIST' ? await lastDownOf(ctx, watch) : null
      const { state } = watch.memory
      return await runProbe(kind, options, { tools, timeoutMs: watch.rhythm.timeoutMs, signal, state, lastDown })
    } catch (error) {
      ctx.log.error({ err: error, watch: watch.id }, 'monitoring: a check could not be made')
      return found('UNKNOWN', 'The check itself failed, by an error of ours that is logged.')
    }
  }
}

/** What the last result told that found a watch down, while it is. */
async function lastDownOf({ db }: Context, { memory, monitor }: DueWatch): Promise<Detail | null> {
  if (memory.state !== 'DOWN') return null
  const last = await db.probeResult.findFirst({
    where: { monitorId: monitor.id, outcome: 'DOWN', at: { gte: memory.stateSince } },
    orderBy: { at: 'desc' },
    select: { detail: true },
  })
  return last ? (last.detail as Detail | null) : null
}
