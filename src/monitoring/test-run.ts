import { z } from 'zod'
import { tierOf } from '../account/tier.ts'
import { requireScope } from '../core/access.ts'
import type { AttemptWindow } from '../core/attempt-window.ts'
import { createAttemptWindow } from '../core/attempt-window.ts'
import { transaction } from '../core/context.ts'
import { Unavailable } from '../core/errors.ts'
import { MINUTE } from '../core/time.ts'
import { invalid, validate } from '../core/validation.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import type { MonitoringContext } from './context.ts'
import { ownMonitor } from './monitor-events.ts'
import type { Configuration } from './options.ts'
import { changeOptions, openOptions, optionMembers, readOptions } from './options.ts'
import type { ProbeTools } from './probe/probe.ts'
import type { ProbeResult } from './probe-result.ts'
import { newProbeSettings, probeSettingsOf } from './probe-settings.ts'
import { runProbe } from './run-probe.ts'
import { requireProbeLimits } from './target.ts'

/** The result of a test run, and when it began. */
export interface TestRun extends ProbeResult {
  readonly at: Date
}

/** How many test runs of an organization may run at once, and start per minute, in one process. */
const MAX_RUNNING = 5
const MAX_PER_MINUTE = 30

/** The test runs of a process. */
interface TestRuns {
  /** How many run, by organization. */
  readonly running: Map<string, number>
  readonly started: AttemptWindow
}

const testRunsByTools = new WeakMap<ProbeTools, TestRuns>()

/**
 * Probes a monitor once in this process, even while it is paused; nothing is stored. Needs a key with scope WRITE.
 * @throws NotFound, Invalid for a heartbeat, and Unavailable when too many test runs are active.
 */
export async function testMonitor(ctx: MonitoringContext, id: string): Promise<TestRun> {
  const organizationId = requireScope(ctx, 'WRITE')
  const monitor = await ownMonitor(ctx, organizationId, id)
  return run(ctx, organizationId, 'id', openOptions(ctx.seal, monitor), monitor)
}

const trialInput = z.object({ id: z.string().nullish(), ...newProbeSettings, ...optionMembers })

/**
 * Probes once with options that are not saved: those of a new monitor, or of the monitor `id` after an edit, whose secrets
 * given as null are then the stored ones. Nothing is stored, but a port counts as one that the organization monitors, so
 * that tests are no way to scan ports. Needs a key with scope WRITE.
 * @param input as for `createMonitor` and `updateMonitor`; name and service do not matter.
 * @throws NotFound, Invalid, RateLimited when the organization used too many ports today, and Unavailable when too many
 * test runs are active.
 */
export async function testOptions(ctx: MonitoringContext, input: unknown): Promise<TestRun> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, ...given } = validate(trialInput, input)
  const before = id == null ? null : await ownMonitor(ctx, organizationId, id)
  const configuration = before ? changeOptions(ctx, given, openOptions(ctx.seal, before)) : readOptions(ctx, given)
  const { kind } = configuration
  const settings = await transaction(ctx, async (tx) => {
    const tier = await tierOf(tx, organizationId)
    const { intervalSeconds, timeoutMs } = probeSettingsOf(given, { kind, tier, ...(before && { before }) })
    const limits = { intervalSeconds, ...(before && { id: before.id }) }
    await requireProbeLimits(tx, { organizationId, tier }, configuration, limits)
    return { timeoutMs, state: before?.state ?? 'PENDING' }
  })
  return run(ctx, organizationId, 'heartbeat', configuration, settings)
}

/** @param path of the member that says that it is a heartbeat. */
async function run(
  ctx: MonitoringContext,
  organizationId: string,
  path: string,
  configuration: Configuration,
  { timeoutMs, state }: Pick<Monitor, 'timeoutMs' | 'state'>,
): Promise<TestRun> {
  if (configuration.kind === 'HEARTBEAT') {
    throw invalid([{ path: [path], message: 'is a heartbeat monitor, which has no probe: its job reports' }])
  }
  const at = ctx.now()
  const end = admit(ctx.tools, organizationId, at)
  try {
    const { signal } = new AbortController()
    const probeRun = { tools: ctx.tools, owner: organizationId, timeoutMs, signal, state }
    return { at, ...(await runProbe(configuration.kind, configuration.options, probeRun)) }
  } finally {
    end()
  }
}

/** Counts a test run, and returns what to call when it ends. @throws Unavailable when there are too many. */
function admit(tools: ProbeTools, organizationId: string, now: Date): () => void {
  const { running, started } = testRunsByTools.get(tools) ?? begin(tools)
  const own = running.get(organizationId) ?? 0
  if (own >= MAX_RUNNING || started.left(organizationId, now) === 0) {
    throw new Unavailable(
      `An organization can test ${MAX_RUNNING} monitors at once and ${MAX_PER_MINUTE} per minute. Try again later.`,
    )
  }
  started.count(organizationId, now)
  running.set(organizationId, own + 1)
  return () => {
    const left = (running.get(organizationId) ?? 1) - 1
    if (left === 0) running.delete(organizationId)
    else running.set(organizationId, left)
  }
}

function begin(tools: ProbeTools): TestRuns {
  const started = createAttemptWindow({ max: MAX_PER_MINUTE, windowMs: 1 * MINUTE })
  const runs = { running: new Map(), started }
  testRunsByTools.set(tools, runs)
  return runs
}
