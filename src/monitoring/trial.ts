import { requireScope } from '../account/access.ts'
import { Unavailable } from '../errors.ts'
import { MINUTE } from '../time.ts'
import { invalid } from '../validate.ts'
import type { MonitoringContext } from './context.ts'
import type { Finding } from './finding.ts'
import { ownMonitor } from './guard.ts'
import { openOptions } from './options.ts'
import type { ProbeTools } from './probe/probe.ts'
import { runProbe } from './probes.ts'

/** What a trial of a monitor found, and when it began. */
export interface Trial extends Finding {
  readonly at: Date
}

/** How many trials of an organization may run at once, and begin within a minute, in one process. */
const AT_ONCE = 5
const A_MINUTE = 30

/** The trials of an organization. */
interface Trials {
  running: number
  /** When those of the last minute began, in epoch milliseconds. */
  begun: readonly number[]
}

const trialsBy = new WeakMap<ProbeTools, Map<string, Trials>>()

/**
 * Runs a monitor once, here and now, also while it is paused; nothing is recorded. Needs a key with scope WRITE.
 * @throws NotFound, Invalid for a heartbeat, and Unavailable while too many are run.
 */
export async function testMonitor(ctx: MonitoringContext, id: string): Promise<Trial> {
  const organizationId = requireScope(ctx, 'WRITE')
  const monitor = await ownMonitor(ctx, organizationId, id)
  const configuration = openOptions(ctx.seal, monitor)
  if (configuration.kind === 'HEARTBEAT') {
    throw invalid([{ path: ['id'], message: 'is of a heartbeat, which is not probed: its job reports by itself' }])
  }
  const at = ctx.now()
  const trials = admit(ctx.tools, organizationId, at)
  try {
    const { timeoutMs, state } = monitor
    const { signal } = new AbortController()
    const run = { tools: ctx.tools, timeoutMs, signal, state }
    return { at, ...(await runProbe(configuration.kind, configuration.options, run)) }
  } finally {
    trials.running -= 1
  }
}

/** Counts one more trial. @throws Unavailable when there are too many. */
function admit(tools: ProbeTools, organizationId: string, now: Date): Trials {
  const ofAll = trialsBy.get(tools) ?? new Map<string, Trials>()
  trialsBy.set(tools, ofAll)
  const isRecent = (begun: number) => Math.abs(now.getTime() - begun) < MINUTE
  for (const [id, { running, begun }] of ofAll) if (running === 0 && !begun.some(isRecent)) ofAll.delete(id)
  const trials = ofAll.get(organizationId) ?? { running: 0, begun: [] }
  trials.begun = trials.begun.filter(isRecent)
  if (trials.running >= AT_ONCE || trials.begun.length >= A_MINUTE) {
    throw new Unavailable(
      `An organization can test ${AT_ONCE} monitors at once, and ${A_MINUTE} a minute. Try again later.`,
    )
  }
  trials.running += 1
  trials.begun = [...trials.begun, now.getTime()]
  ofAll.set(organizationId, trials)
  return trials
}
