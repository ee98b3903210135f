import { setMaxListeners } from 'node:events'
import { SECOND } from '../../core/time.ts'
import { judgeCommon } from '../probe/common.ts'
import type { Probe, ProbeRun } from '../probe/probe.ts'
import type { ProbeResult } from '../result/probe-result.ts'
import { oneLine, probeResult } from '../result/probe-result.ts'
import type { Configuration } from './options.ts'
import type { KindOptions, ProbedKind } from './probe-kinds.ts'
import { probes } from './probe-kinds.ts'
import { partyOf } from './target.ts'
import { wireIssues } from './wire-issues.ts'

/**
 * The delay after its deadline at which a probe is abandoned, in milliseconds. On a busy machine, probes end a little
 * late.
 */
const GRACE_MS = 0.5 * SECOND

/** The maximum length of a stored message, in characters. */
const MAX_MESSAGE_LENGTH = 500

/**
 * How long a probe may wait for rate limits, in milliseconds: first for that of the name, then for that of each address
 * to which it connects. This time is not part of its timeout.
 */
const MAX_WAIT_MS = 5 * SECOND

/**
 * Runs a probe. Never rejects: the result is UNKNOWN if the probe throws, misses its deadline, or is not admitted
 * because there are too many probes of the same third party.
 * @param options the validated options, with secrets opened.
 */
export async function runProbe<K extends ProbedKind>(
  kind: K,
  options: KindOptions[K],
  run: ProbeRun,
): Promise<ProbeResult> {
  const { tracer } = run.tools
  if (!tracer) return runWithinLimits(kind, options, run)
  const span = { name: `probe ${kind}`, kind: 'client', attributes: { 'allclear.monitor.kind': kind } } as const
  return tracer.run(span, async (opened) => {
    const result = await runWithinLimits(kind, options, run)
    opened.set({ 'allclear.probe.outcome': result.outcome })
    return result
  })
}

/** Runs a probe once the limits of its third party admit it. */
async function runWithinLimits<K extends ProbedKind>(
  kind: K,
  options: KindOptions[K],
  run: ProbeRun,
): Promise<ProbeResult> {
  // TypeScript cannot see that these options belong to this kind.
  const configuration = { kind, options } as Configuration
  const [issue] = wireIssues(configuration)
  if (issue) return probeResult('UNKNOWN', `Not probed: ${issue.path.join('.')} ${issue.message}`)
  const party = partyOf(configuration)
  if (party === null) return runWithDeadline(kind, options, { ...run, waitMs: MAX_WAIT_MS })
  const limits = { waitMs: MAX_WAIT_MS, signal: run.signal, owner: run.owner }
  const begun = performance.now()
  const result = await run.tools.limiter.run(party, limits, () => {
    const waitMs = Math.max(0, MAX_WAIT_MS - (performance.now() - begun))
    return runWithDeadline(kind, options, { ...run, waitMs })
  })
  return result ?? probeResult('UNKNOWN', `Not probed: too many probes of ${party} at once`)
}

async function runWithDeadline<K extends ProbedKind>(
  kind: K,
  options: KindOptions[K],
  run: ProbeRun & { readonly waitMs: number },
): Promise<ProbeResult> {
  const probe: Probe = probes[kind]
  const ending = new AbortController()
  const abort = () => ending.abort()
  if (run.signal.aborted) abort()
  // One signal ends all probes of a process. Node.js 20 warns of a leak above ten listeners.
  setMaxListeners(0, run.signal)
  run.signal.addEventListener('abort', abort)
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<ProbeResult>((resolve) => {
    timer = setTimeout(
      () => {
        run.tools.log.error({ kind }, 'monitoring: a probe did not end within its deadline')
        resolve(failure('it did not end in time'))
      },
      run.timeoutMs + run.waitMs + GRACE_MS,
    )
  })
  try {
    const result = await Promise.race([probe.run(options, { ...run, signal: ending.signal }), deadline])
    return normalized(judgeCommon(result, 'inverted' in options ? options : {}))
  } catch (error) {
    run.tools.log.error({ err: error, kind }, 'monitoring: a probe threw an error')
    return failure('an internal error, which we have logged')
  } finally {
    clearTimeout(timer)
    run.signal.removeEventListener('abort', abort)
    abort()
  }
}

function failure(reason: string): ProbeResult {
  return probeResult('UNKNOWN', `The probe failed: ${reason}`)
}

/** Limits the message of a result to one line, because it may quote a response. */
function normalized({ message, latencyMs, ...result }: ProbeResult): ProbeResult {
  const rounded = latencyMs === null ? null : Math.round(latencyMs)
  return { ...result, message: oneLine(message, MAX_MESSAGE_LENGTH), latencyMs: rounded }
}
