import type { CorrectionKind } from '../../generated/prisma/enums.ts'
import type { Condition, Span, Stretch } from '../uptime.ts'

/** As what time counts: as good or bad, as not known, or not at all. */
export type Counted = 'good' | 'bad' | 'unknown' | 'maintenance' | 'excluded'

/** Milliseconds by what they count as; they add up to the whole span. */
export interface Account extends Readonly<Record<Counted, number>> {
  /** How much of it somebody has corrected, whatever it counts as now. */
  readonly corrected: number
}

/** What somebody has said of a time, in place of what was measured. */
export interface CorrectedSpan extends Span {
  readonly kind: CorrectionKind
}

/** A stretch of time with what it counts as. */
export interface CountedStretch extends Span {
  readonly counted: Counted
  readonly isCorrected: boolean
}

const countedAs = {
  up: 'good',
  degraded: 'good',
  down: 'bad',
  unknown: 'unknown',
  maintenance: 'maintenance',
} as const satisfies Record<Condition, Counted>

const correctedAs = { GOOD: 'good', BAD: 'bad', EXCLUDED: 'excluded' } as const satisfies Record<
  CorrectionKind,
  Counted
>

/**
 * Returns what stretches count as once they are corrected. A correction takes precedence over everything measured and over maintenance,
 * a later one over those before it. Nothing lies outside the stretches.
 * @param stretches in order, without holes. @param corrections in the order in which they were made.
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

/** Returns until when the same holds from a time on, and which correction; null: none. @param next the first that ends later. */
function partAt(next: FlatCorrection | undefined, at: number, end: number) {
  if (next === undefined) return { until: end, kind: null }
  if (next.from > at) return { until: Math.min(end, next.from), kind: null }
  return { until: Math.min(end, next.to), kind: next.kind }
}

/** A correction that no other overlaps, in epoch milliseconds. */
interface FlatCorrection {
  readonly from: number
  readonly to: number
  readonly kind: CorrectionKind
}

/** Returns which correction holds when, in order of time. */
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

/** Adds up what stretches count as within a span. */
export function accountOf(stretches: readonly CountedStretch[], span: Span): Account {
  const sum = { good: 0, bad: 0, unknown: 0, maintenance: 0, excluded: 0, corrected: 0 }
  const [first, last] = [span.from.getTime(), span.to.getTime()]
  for (const { from, to, counted, isCorrected } of stretches) {
    const length = Math.min(to.getTime(), last) - Math.max(from.getTime(), first)
    if (length <= 0) continue
    sum[counted] += length
    if (isCorrected) sum.corrected += length
  }
  return sum
}
