import { z } from 'zod'
import type { ProbeResult } from '../result/probe-result.ts'

/** The options that several kinds share. They are applied after the probe. */
export const commonOptions = {
  /** A slower response makes the monitor DOWN. */
  downAboveMs: z.int().min(1).max(30_000).optional(),
  /** Whether it is UP when the probe fails, and DOWN when it succeeds. */
  inverted: z.boolean().default(false),
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
