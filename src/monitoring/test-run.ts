import { requireScope } from '../core/access.ts'
import { Unavailable } from '../core/errors.ts'
import { MINUTE } from '../core/time.ts'
import { invalid } from '../core/validation.ts'
import type { MonitoringContext } from './context.ts'
import { ownMonitor } from './monitor-events.ts'
import { openOptions } from './options.ts'
import type { ProbeTools } from './probe/probe.ts'
import { runProbe } from './probe-kinds.ts'
import type { ProbeResult } from './probe-result.ts'

/** The result of a test run, and when it began. */
export interface TestRun extends ProbeResult {
  readonly at: Date
}

/** How many test runs of an organization may run at once, and start per minute, in one process. */
const MAX_RUNNING = 5
const MAX_PER_MINUTE = 30

/** The test runs of an organization. */
interface TestRuns {
  running: number
  /** When the runs of the last minute began, in epoch milliseconds. */
  begun: readonly number[]
}

const testRunsByTools = new WeakMap<ProbeTools, Map<string, TestRuns>>()

/**
 * Probes a monitor once in this process, even while it is paused; nothing is stored. Needs a key with scope WRITE.
 * @throws NotFound, Invalid for a heartbeat, and Unavailable when too many test runs are active.
 */
export async function testMonitor(ctx: MonitoringContext, id: string): Promise<TestRun> {
  const organizationId = requireScope(ctx, 'WRITE')
  const monitor = await ownMonitor(ctx, organizationId, id)
  const configuration = openOptions(ctx.seal, monitor)
  if (configuration.kind === 'HEARTBEAT') {
    throw invalid([{ path: ['id'], message: 'is a heartbeat monitor, which has no probe: its job reports' }])
  }
  const at = ctx.now()
  const runs = admit(ctx.tools, organizationId, at)
  try {
    const { timeoutMs, state } = monitor
    const { signal } = new AbortController()
    const run = { tools: ctx.tools, owner: organizationId, timeoutMs, signal, state }
    return { at, ...(await runProbe(configuration.kind, configuration.options, run)) }
  } finally {
    runs.running -= 1
  }
}

/** Counts a test run. @throws Unavailable when there are too many. */
function admit(tools: ProbeTools, organizationId: string, now: Date): TestRuns {
  const ofAll = testRunsByTools.get(tools) ?? new Map<string, TestRuns>()
  testRunsByTools.set(tools, ofAll)
  const isRecent = (begun: number) => Math.abs(now.getTime() - begun) < MINUTE
  for (const [id, { running, begun }] of ofAll) if (running === 0 && !begun.some(isRecent)) ofAll.delete(id)
  const trials = ofAll.get(organizationId) ?? { running: 0, begun: [] }
  trials.begun = trials.begun.filter(isRecent)
  if (trials.running >= MAX_RUNNING || trials.begun.length >= MAX_PER_MINUTE) {
    throw new Unavailable(
      `An organization can test ${MAX_RUNNING} monitors at once and ${MAX_PER_MINUTE} per minute. Try again later.`,
    )
  }
  trials.running += 1
  trials.begun = [...trials.begun, now.getTime()]
  ofAll.set(organizationId, trials)
  return trials
}
