import { z } from 'zod'
import { described } from '../../core/described.ts'
import type { ProbeResult } from '../result/probe-result.ts'

const limitMs = z.int().min(1).max(30_000).optional()

/** The options of kinds that measure a response. `downAboveMs` and `inverted` are applied after the probe. */
export const responseOptions = {
  degradedAboveMs: described(limitMs, {
    label: 'Degraded above',
    description: 'A slower response, in milliseconds, makes the monitor DEGRADED. Default: no limit.',
    hint: 'Milliseconds. A slower response makes it degraded. Empty: no limit.',
    isRare: true,
  }),
  downAboveMs: described(limitMs, {
    label: 'Down above',
    description: 'A slower response, in milliseconds, makes the monitor DOWN. Default: no limit.',
    hint: 'Milliseconds. A slower response makes it down. Empty: no limit.',
    isRare: true,
  }),
  inverted: described(z.boolean().default(false), {
    label: 'Up when the probe fails',
    description: 'Whether the monitor is UP when the probe fails, and DOWN when it succeeds.',
    hint: 'For a target that must not be reachable.',
    isRare: true,
  }),
}

interface Common {
  readonly downAboveMs?: number | undefined
  readonly inverted?: boolean
}

/** Applies the common options to a result. */
export function judgeCommon(result: ProbeResult, { downAboveMs, inverted = false }: Common): ProbeResult {
  const { outcome, latencyMs, message } = result
  const isSlow = outcome !== 'UNKNOWN' && latencyMs !== null && downAboveMs !== undefined && latencyMs > downAboveMs
  const judged: ProbeResult =
    isSlow && outcome !== 'DOWN'
      ? { ...result, outcome: 'DOWN', message: `Answered in ${Math.round(latencyMs)} ms, more than ${downAboveMs} ms` }
      : result
  if (!inverted || judged.outcome === 'UNKNOWN') return judged
  return judged.outcome === 'DOWN'
    ? { ...judged, outcome: 'UP', message: `Failed as expected: ${judged.message}`, suspect: null }
    : { ...judged, outcome: 'DOWN', message: `Succeeded unexpectedly: ${message}` }
}
