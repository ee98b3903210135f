import type { CorrectionKind } from '../../generated/prisma/enums.ts'
import type { Condition, Span, Stretch } from '../uptime/uptime.ts'
import { outageTime } from '../uptime/uptime.ts'

/** How time counts: good, bad, unknown, or not at all (maintenance, excluded). */
export type Counted = 'good' | 'bad' | 'unknown' | 'maintenance' | 'excluded'

/** How a stretch counts: a partial outage is bad to the share of `PARTIAL_OUTAGE_PERCENT`, and good to the rest. */
type StretchCounted = Counted | 'partial'

/** The milliseconds of a span, by how they count. They add up to the whole span. */
export interface ObjectiveTally extends Readonly<Record<Counted, number>> {
  /** The milliseconds that a correction covers, regardless of how they count. */
  readonly corrected: number
  /** The milliseconds of partial outage, whose shares are in `bad` and `good`. */
  readonly partial: number
}

/** A correction, which replaces measurements. */
export interface CorrectedSpan extends Span {
  readonly kind: CorrectionKind
}

/** A stretch of time, with how it counts. */
export interface CountedStretch extends Span {
  readonly counted: StretchCounted
  readonly isCorrected: boolean
}

const countedAs = {
  up: 'good',
  degraded: 'good',
  partial: 'partial',
  down: 'bad',
  unknown: 'unknown',
  maintenance: 'maintenance',
} as const satisfies Record<Condition, StretchCounted>

const correctedAs = { GOOD: 'good', BAD: 'bad', EXCLUDED: 'excluded' } as const satisfies Record<
  CorrectionKind,
  Counted
>

/**
 * Applies corrections to stretches. A correction takes precedence over measurements and maintenance, and a later
 * correction over earlier ones. Ignores corrections outside the stretches.
 * @param stretches contiguous stretches in order of time.
 * @param corrections the corrections in order of creation.
 */
export function countedStretches(
  stretches: readonly Stretch[],
  corrections: readonly CorrectedSpan[],
): CountedStretch[] {
  const corrected = flattened(corrections)
  const found: CountedStretch[] = []
  let next = 0
  for (const { from, to, condition } of stretches) {
    const end = to.getTime()
    for (let at = from.getTime(); at < end; ) {
      while ((corrected[next]?.to ?? Infinity) <= at) next++
      const { until, kind } = partAt(corrected[next], at, end)
      const counted = kind === null ? countedAs[condition] : correctedAs[kind]
      found.push({ from: new Date(at), to: new Date(until), counted, isCorrected: kind !== null })
      at = until
    }
  }
  return found
}

/**
 * Returns the kind of the correction at a time (null: there is none), and the time until which it applies.
 * @param next the first correction that ends after `at`.
 */
function partAt(next: FlatCorrection | undefined, at: number, end: number) {
  if (next === undefined) return { until: end, kind: null }
  if (next.from > at) return { until: Math.min(end, next.from), kind: null }
  return { until: Math.min(end, next.to), kind: next.kind }
}

/** A correction that overlaps no other, in epoch milliseconds. */
interface FlatCorrection {
  readonly from: number
  readonly to: number
  readonly kind: CorrectionKind
}

/** Resolves overlaps of corrections. Returns them in order of time. */
function flattened(corrections: readonly CorrectedSpan[]): FlatCorrection[] {
  let flat: FlatCorrection[] = []
  for (const { from, to, kind } of corrections) {
    const [start, end] = [from.getTime(), to.getTime()]
    if (start >= end) continue
    flat = flat.flatMap((other) => {
      if (other.to <= start || other.from >= end) return [other]
      const before = other.from < start ? [{ ...other, to: start }] : []
      return other.to > end ? [...before, { ...other, from: end }] : before
    })
    flat.push({ from: start, to: end, kind })
  }
  return flat.sort((one, other) => one.from - other.from)
}

/** Sums up stretches within a span, by how they count. */
export function objectiveTally(stretches: readonly CountedStretch[], span: Span): ObjectiveTally {
  const sum = { good: 0, bad: 0, partial: 0, unknown: 0, maintenance: 0, excluded: 0, corrected: 0 }
  const [first, last] = [span.from.getTime(), span.to.getTime()]
  for (const { from, to, counted, isCorrected } of stretches) {
    const length = Math.min(to.getTime(), last) - Math.max(from.getTime(), first)
    if (length <= 0) continue
    sum[counted] += length
    if (isCorrected) sum.corrected += length
  }
  const bad = outageTime({ down: sum.bad, partial: sum.partial })
  return { ...sum, bad, good: sum.good + sum.partial - (bad - sum.bad) }
}
