import { z } from 'zod'
import { readByPrivateTargetRule } from '../../account/private-targets/rule.ts'
import { tierOf } from '../../account/tier.ts'
import { requireScope } from '../../core/access.ts'
import type { AttemptWindow } from '../../core/concurrency/attempt-window.ts'
import { createAttemptWindow } from '../../core/concurrency/attempt-window.ts'
import type { KeyLimiter } from '../../core/concurrency/key-limiter.ts'
import { createKeyLimiter } from '../../core/concurrency/key-limiter.ts'
import { transaction } from '../../core/context.ts'
import { Unavailable } from '../../core/errors.ts'
import { MINUTE } from '../../core/time.ts'
import { invalid, validate } from '../../core/validation.ts'
import type { Monitor } from '../../generated/prisma/client.ts'
import type { MonitoringContext } from '../context.ts'
import { ownMonitor } from '../monitor-events.ts'
import type { ProbeTools } from '../probe/probe.ts'
import type { ProbeResult } from '../result/probe-result.ts'
import type { Configuration } from './options.ts'
import { changeOptions, openOptions, optionFields, optionKeyOf, readOptions } from './options.ts'
import { newProbeSettings, probeSettingsOf } from './probe-settings.ts'
import { runProbe } from './run-probe.ts'
import { requireProbeLimits } from './target.ts'

/** The result of a test run, with its start time. */
export interface TestRun extends ProbeResult {
  readonly at: Date
}

/** The maximum numbers of concurrent test runs and of starts per minute, for one organization in one process. */
const MAX_RUNNING = 5
const MAX_PER_MINUTE = 30

/** The test runs of a process. */
interface TestRuns {
  /** Limits the running test runs by organization. */
  readonly running: KeyLimiter
  readonly started: AttemptWindow
}

const testRunsByTools = new WeakMap<ProbeTools, TestRuns>()

/**
 * Probes a monitor once in this process, even if it is paused, and does not store the result. Requires a key with scope
 * WRITE.
 * @throws NotFound, Invalid for a heartbeat or a group, and Unavailable if too many test runs are active.
 */
export async function testMonitor(ctx: MonitoringContext, id: string): Promise<TestRun> {
  const organizationId = requireScope(ctx, 'WRITE')
  const monitor = await ownMonitor(ctx, organizationId, id)
  return run(ctx, organizationId, 'id', openOptions(ctx.seal, monitor), monitor)
}

const testInput = z.object({ id: z.string().nullish(), ...newProbeSettings, ...optionFields })

/**
 * Probes once with unsaved options: those of a new monitor, or of an edit of the monitor `id`, in which null secrets
 * stand for the stored ones. Does not store the result, but counts the port as monitored, so that test runs cannot scan
 * ports. Requires a key with scope WRITE.
 * @param input the same as for `createMonitor` and `updateMonitor`; the name and the service are ignored.
 * @throws NotFound, Invalid, RateLimited when the organization has used too many ports today, and Unavailable when too
 * many test runs are active.
 */
export async function testOptions(ctx: MonitoringContext, input: unknown): Promise<TestRun> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, ...given } = validate(testInput, input)
  const before = id == null ? null : await ownMonitor(ctx, organizationId, id)
  const configuration = await readByPrivateTargetRule(ctx, organizationId, (rule) =>
    before ? changeOptions(rule, given, openOptions(ctx.seal, before)) : readOptions(rule, given),
  )
  const { kind } = configuration
  const settings = await transaction(ctx, async (tx) => {
    const tier = await tierOf(tx, organizationId)
    const { intervalSeconds, timeoutMs } = probeSettingsOf(given, { kind, tier, ...(before && { before }) })
    const limits = { intervalSeconds, ...(before && { id: before.id }) }
    await requireProbeLimits(tx, { organizationId, tier }, configuration, limits)
    return { timeoutMs, state: before?.state ?? 'PENDING' }
  })
  return run(ctx, organizationId, null, configuration, settings)
}

const untested = {
  HEARTBEAT: 'is a heartbeat monitor, which has no probe',
  GROUP: 'is a group, which has no probe',
} as const

/** Runs a test run. @param path the input field that issues name; null: the options of the kind. */
async function run(
  ctx: MonitoringContext,
  organizationId: string,
  path: string | null,
  configuration: Configuration,
  { timeoutMs, state }: Pick<Monitor, 'timeoutMs' | 'state'>,
): Promise<TestRun> {
  const { kind } = configuration
  if (kind === 'HEARTBEAT' || kind === 'GROUP')
    throw invalid([{ path: [path ?? optionKeyOf(kind)], message: untested[kind] }])
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

/** Counts a test run. Returns a function to call when it ends. @throws Unavailable when there are too many. */
function admit(tools: ProbeTools, organizationId: string, now: Date): () => void {
  const { running, started } = testRunsByTools.get(tools) ?? begin(tools)
  const end = started.left(organizationId, now) === 0 ? null : running.tryAcquire(organizationId)
  if (end === null) {
    throw new Unavailable(
      `An organization can test ${MAX_RUNNING} monitors at once and ${MAX_PER_MINUTE} per minute. Try again later.`,
    )
  }
  started.count(organizationId, now)
  return end
}

function begin(tools: ProbeTools): TestRuns {
  const started = createAttemptWindow({ max: MAX_PER_MINUTE, windowMs: 1 * MINUTE })
  const runs = { running: createKeyLimiter({ atOnce: MAX_RUNNING }), started }
  testRunsByTools.set(tools, runs)
  return runs
}
