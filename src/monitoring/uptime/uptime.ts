import type { MonitorState } from '../../generated/prisma/enums.ts'

/**
 * The condition of a monitor or service at a time. Only incidents set `partial`, a partial outage. Maintenance does not
 * count towards uptime.
 */
export type Condition = 'up' | 'degraded' | 'partial' | 'down' | 'unknown' | 'maintenance'

/**
 * The share of a partial outage that counts as outage, in percent: that of Statuspage
 * (https://support.atlassian.com/statuspage/docs/display-historical-uptime-of-components/).
 */
export const PARTIAL_OUTAGE_PERCENT = 30

/** Milliseconds by condition. They add up to the whole span. */
export type Tally = Readonly<Record<Condition, number>>

export interface Span {
  readonly from: Date
  readonly to: Date
}

/** The stored history of a monitor. */
export interface MonitorHistory {
  /** In chronological order, without overlaps. The last interval is open. */
  readonly intervals: readonly StateInterval[]
  /** The times during which too few regions reported. */
  readonly gaps: readonly Span[]
  /** When it became stale; null: its last result still counts. */
  readonly staleSince: Date | null
}

export interface StateInterval {
  readonly startedAt: Date
  /** Null: ongoing. */
  readonly endedAt: Date | null
  readonly state: MonitorState
  /** The message of its first result. */
  readonly cause: string
}

/** A span with a single condition. */
export interface Stretch extends Span {
  readonly condition: Condition
}

/** A span for which a condition was declared. */
export interface Declared extends Span {
  readonly condition: KnownCondition
}

/** A span during which a monitor was down, including unknown time. */
export interface Outage {
  readonly startedAt: Date
  /** Null: ongoing. */
  readonly endedAt: Date | null
  /** The message of the first failed probe. */
  readonly cause: string
  /** The time that counts as down, in milliseconds, without unknown time and maintenance. */
  readonly downMs: number
}

/** The known conditions by precedence, highest first, for stretches that overlap. */
const severityOrder = ['maintenance', 'down', 'partial', 'degraded', 'up'] as const satisfies readonly Condition[]
type KnownCondition = (typeof severityOrder)[number]

/** The condition of each state; null: unknown. */
const conditionOf = {
  PENDING: null,
  UP: 'up',
  DEGRADED: 'degraded',
  DOWN: 'down',
  PAUSED: null,
} as const satisfies Record<MonitorState, Condition | null>

/**
 * Splits a span into contiguous stretches for one monitor, or for several combined: down if any is down, known if any
 * is known. What was declared counts like the result of one more monitor, so the worse applies at each time.
 * Maintenance takes precedence over both. `span.to` must not be in the future.
 */
export function stretches(
  monitors: readonly MonitorHistory[],
  maintenance: readonly Span[],
  span: Span,
  declared: readonly Declared[] = [],
): Stretch[] {
  const boundaries = boundariesOf(monitors, maintenance, span, declared)
  const open = { maintenance: 0, down: 0, partial: 0, degraded: 0, up: 0 }
  const found: Stretch[] = []
  let from = span.from.getTime()
  for (const turn of [...boundaries, { at: span.to.getTime(), condition: null, change: 0 }]) {
    if (turn.at > from) {
      add(found, { from: new Date(from), to: new Date(turn.at), condition: conditionWith(open) })
      from = turn.at
    }
    if (turn.condition !== null) open[turn.condition] += turn.change
  }
  return found
}

/** The start (1) or end (-1) of a known condition, in epoch milliseconds. */
interface Boundary {
  readonly at: number
  readonly condition: KnownCondition
  readonly change: 1 | -1
}

/**
 * Returns the boundaries of known conditions within a span, in order. Allocates nothing else, because a page has
 * thousands.
 */
function boundariesOf(
  monitors: readonly MonitorHistory[],
  maintenance: readonly Span[],
  span: Span,
  declared: readonly Declared[],
): Boundary[] {
  const [first, last] = [span.from.getTime(), span.to.getTime()]
  const boundaries: Boundary[] = []
  const mark = (condition: Boundary['condition'], since: Date, until: Date) => {
    const [from, to] = [Math.max(since.getTime(), first), Math.min(until.getTime(), last)]
    if (from < to) boundaries.push({ at: from, condition, change: 1 }, { at: to, condition, change: -1 })
  }
  for (const { from, to } of maintenance) mark('maintenance', from, to)
  for (const { from, to, condition } of declared) mark(condition, from, to)
  for (const monitor of monitors) markKnown(monitor, span.to, mark)
  return boundaries.sort((one, other) => one.at - other.at)
}

/** Marks the known conditions of a monitor's history, up to now. */
function markKnown(
  { intervals, gaps, staleSince }: MonitorHistory,
  now: Date,
  mark: (condition: Boundary['condition'], from: Date, to: Date) => void,
): void {
  const unknown = staleSince === null ? gaps : [...gaps, { from: staleSince, to: now }]
  for (const { startedAt, endedAt, state } of intervals) {
    const condition = conditionOf[state]
    if (condition === null) continue
    const to = endedAt ?? now
    if (unknown.length === 0) mark(condition, startedAt, to)
    else for (const rest of without({ from: startedAt, to }, unknown)) mark(condition, rest.from, rest.to)
  }
}

function conditionWith(open: Readonly<Record<KnownCondition, number>>): Condition {
  return severityOrder.find((condition) => open[condition] > 0) ?? 'unknown'
}

function add(found: Stretch[], next: Stretch): void {
  const last = found.at(-1)
  if (last?.condition === next.condition) found[found.length - 1] = { ...last, to: next.to }
  else found.push(next)
}

/** Returns the parts of a span that other spans, which may overlap, do not cover. */
function without(span: Span, others: readonly Span[]): Span[] {
  const rest: Span[] = []
  let { from } = span
  const cuts = others.filter((other) => other.from < span.to && other.to > span.from)
  for (const cut of cuts.sort((one, other) => one.from.getTime() - other.from.getTime())) {
    if (cut.from > from) rest.push({ from, to: cut.from })
    if (cut.to > from) from = cut.to
  }
  if (from < span.to) rest.push({ from, to: span.to })
  return rest
}

/** The tally of no time. */
export const nothing: Tally = { up: 0, degraded: 0, partial: 0, down: 0, unknown: 0, maintenance: 0 }

/** Tallies the stretches within a span. The stretches must be ordered and cover the span. */
export function tally(of: readonly Stretch[], span: Span): Tally {
  return tallies(of, [span])[0] ?? nothing
}

/** Tallies the stretches within several ordered spans, for example days. */
export function tallies(of: readonly Stretch[], spans: readonly Span[]): Tally[] {
  let next = 0
  return spans.map((span) => {
    const sum: Record<Condition, number> = { ...nothing }
    for (let index = next; index < of.length; index++) {
      const stretch = of[index]
      if (stretch === undefined || stretch.from >= span.to) break
      // A stretch that continues in the next span counts there too.
      if (stretch.to <= span.to) next = index + 1
      const from = Math.max(stretch.from.getTime(), span.from.getTime())
      const to = Math.min(stretch.to.getTime(), span.to.getTime())
      if (from < to) sum[stretch.condition] += to - from
    }
    return sum
  })
}

/** Adds tallies. */
export function sumOf(tallies: readonly Tally[]): Tally {
  const sum: Record<Condition, number> = { ...nothing }
  for (const each of tallies) {
    sum.up += each.up
    sum.degraded += each.degraded
    sum.partial += each.partial
    sum.down += each.down
    sum.unknown += each.unknown
    sum.maintenance += each.maintenance
  }
  return sum
}

/** Returns the known time of a tally, in milliseconds. */
export function knownTime({ up, degraded, partial, down }: Tally): number {
  return up + degraded + partial + down
}

/** Returns the time that counts as outage, in milliseconds: all of `down`, and a share of `partial`, rounded up. */
export function outageTime({ partial, down }: Pick<Tally, 'partial' | 'down'>): number {
  return down + Math.ceil((partial * PARTIAL_OUTAGE_PERCENT) / 100)
}

/**
 * Returns the share of the known time that does not count as outage, in percent; null: no time is known. Rounds down to
 * three decimals, so that 100 means no outage at all.
 */
export function uptimePercent(tally: Tally): number | null {
  const known = knownTime(tally)
  return percent(known - outageTime(tally), known)
}

/** Returns the known share of the counted time, in percent, rounded down to three decimals; null: no time counts. */
export function coveragePercent(tally: Tally): number | null {
  const known = knownTime(tally)
  return percent(known, known + tally.unknown)
}

/** Returns a percentage, rounded down to three decimals. It is exact for up to two centuries in milliseconds. */
function percent(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.floor((part * 100_000) / whole) / 1000
}

/**
 * Returns the outages of a monitor that overlap a span, newest first. Unknown time does not split an outage. `span.to`
 * must not be in the future.
 */
export function outagesOf(monitor: MonitorHistory, maintenance: readonly Span[], span: Span): Outage[] {
  const outages: Omit<Outage, 'downMs'>[] = []
  for (const { startedAt, endedAt, state, cause } of monitor.intervals) {
    const last = outages.at(-1)
    if (state !== 'DOWN' || startedAt >= span.to) continue
    if (last?.endedAt?.getTime() === startedAt.getTime()) outages[outages.length - 1] = { ...last, endedAt }
    else outages.push({ startedAt, endedAt, cause })
  }
  const overlapping = outages.filter(({ endedAt }) => endedAt === null || endedAt > span.from)
  const whole = { from: overlapping[0]?.startedAt ?? span.from, to: span.to }
  const past = stretches([monitor], maintenance, whole)
  return overlapping.reverse().map((outage) => {
    const { down } = tally(past, { from: outage.startedAt, to: outage.endedAt ?? span.to })
    return { ...outage, downMs: down }
  })
}
