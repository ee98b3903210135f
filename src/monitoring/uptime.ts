import type { MonitorState } from '../generated/prisma/enums.ts'

/** How time was: what is known, what is not, and what is left out. */
export type Condition = 'up' | 'degraded' | 'down' | 'unknown' | 'maintenance'

/** Time by what it was like, in milliseconds; the parts add up to the time that was looked at. */
export type Tally = Readonly<Record<Condition, number>>

export interface Span {
  readonly from: Date
  readonly to: Date
}

/** What has been written of a monitor. */
export interface MonitorPast {
  /** In order of time, without overlaps; the last one is open. */
  readonly intervals: readonly StateInterval[]
  /** When nobody watched it. */
  readonly gaps: readonly Span[]
  /** Since when nothing is known of it any more, by `silentSince`; null: its last check still stands for it. */
  readonly silentSince: Date | null
}

export interface StateInterval {
  readonly startedAt: Date
  /** Null: it lasts. */
  readonly endedAt: Date | null
  readonly state: MonitorState
  /** What its first check said. */
  readonly cause: string
}

/** Time that was the same throughout. */
export interface Stretch extends Span {
  readonly condition: Condition
}

/** A time in which a monitor was down, however it was watched meanwhile. */
export interface Outage {
  readonly startedAt: Date
  /** Null: it lasts. */
  readonly endedAt: Date | null
  /** What the first failing check said. */
  readonly cause: string
  /** How much of it counts as down, in milliseconds: neither unwatched time does nor maintenance. */
  readonly downMs: number
}

/** Of what overlaps, what comes first here counts. */
const precedence = ['maintenance', 'down', 'degraded', 'up'] as const satisfies readonly Condition[]

/** What is known while a monitor is in a state; null: nothing. */
const conditionOf = {
  PENDING: null,
  UP: 'up',
  DEGRADED: 'degraded',
  DOWN: 'down',
  PAUSED: null,
} as const satisfies Record<MonitorState, Condition | null>

/**
 * How a span of time was, piece by piece without holes, for one monitor or for several as one: down when any of them was,
 * known when any of them was. Maintenance leaves time out, whatever the monitors found. `span.to` must not lie ahead.
 */
export function stretches(monitors: readonly MonitorPast[], maintenance: readonly Span[], span: Span): Stretch[] {
  const running = maintenance.map((each) => ({ ...each, condition: 'maintenance' as const }))
  const known = [...running, ...monitors.flatMap((monitor) => knownStretches(monitor, span.to))]
  const turns = known
    .map((stretch) => ({ ...stretch, ...within(stretch, span) }))
    .filter(({ from, to }) => from < to)
    .flatMap(({ from, to, condition }) => [
      { at: from.getTime(), condition, change: 1 },
      { at: to.getTime(), condition, change: -1 },
    ])
    .sort((one, other) => one.at - other.at)
  const open = { maintenance: 0, down: 0, degraded: 0, up: 0 }
  const found: Stretch[] = []
  let from = span.from.getTime()
  for (const turn of [...turns, { at: span.to.getTime(), condition: null, change: 0 }]) {
    if (turn.at > from) {
      add(found, { from: new Date(from), to: new Date(turn.at), condition: conditionWith(open) })
      from = turn.at
    }
    if (turn.condition !== null) open[turn.condition] += turn.change
  }
  return found
}

/** The pieces of a monitor's past, up to now, of which something is known. */
function knownStretches({ intervals, gaps, silentSince }: MonitorPast, now: Date) {
  const unknown = [...gaps, ...(silentSince === null ? [] : [{ from: silentSince, to: now }])]
  return intervals.flatMap(({ startedAt, endedAt, state }) => {
    const condition = conditionOf[state]
    if (condition === null) return []
    const span = { from: startedAt, to: endedAt ?? now }
    return without(span, unknown).map((rest) => ({ ...rest, condition }))
  })
}

function conditionWith(open: Readonly<Record<(typeof precedence)[number], number>>): Condition {
  return precedence.find((condition) => open[condition] > 0) ?? 'unknown'
}

function add(found: Stretch[], next: Stretch): void {
  const last = found.at(-1)
  if (last?.condition === next.condition) found[found.length - 1] = { ...last, to: next.to }
  else found.push(next)
}

/** What is left of a span when others, which may overlap, are cut out. */
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

function within(span: Span, bounds: Span): Span {
  return { from: later(span.from, bounds.from), to: earlier(span.to, bounds.to) }
}

const earlier = (one: Date, other: Date) => (one < other ? one : other)
const later = (one: Date, other: Date) => (one > other ? one : other)

const nothing: Tally = { up: 0, degraded: 0, down: 0, unknown: 0, maintenance: 0 }

/** How much of each condition stretches have in a span. They must be in order of time, and cover it. */
export function tally(of: readonly Stretch[], span: Span): Tally {
  return tallies(of, [span])[0] ?? nothing
}

/** The same of several spans in order of time, such as days. */
export function tallies(of: readonly Stretch[], spans: readonly Span[]): Tally[] {
  let next = 0
  return spans.map((span) => {
    const sum: Record<Condition, number> = { ...nothing }
    for (let index = next; index < of.length; index++) {
      const stretch = of[index]
      if (stretch === undefined || stretch.from >= span.to) break
      // One that reaches into the following span is looked at again.
      if (stretch.to <= span.to) next = index + 1
      const { from, to } = within(stretch, span)
      if (from < to) sum[stretch.condition] += to.getTime() - from.getTime()
    }
    return sum
  })
}

/** The sum of what several times were like. */
export function sumOf(tallies: readonly Tally[]): Tally {
  const sum: Record<Condition, number> = { ...nothing }
  for (const each of tallies) {
    sum.up += each.up
    sum.degraded += each.degraded
    sum.down += each.down
    sum.unknown += each.unknown
    sum.maintenance += each.maintenance
  }
  return sum
}

/**
 * The share of the known time in which it was not down, in percent, rounded down to three decimals: 100 says that there
 * was no outage at all. Null when nothing is known.
 */
export function uptimePercent({ up, degraded, down }: Tally): number | null {
  return percent(up + degraded, up + degraded + down)
}

/** How much is known of the time that counts, in percent, rounded down to three decimals; null when none of it counts. */
export function coveragePercent({ up, degraded, down, unknown }: Tally): number | null {
  const known = up + degraded + down
  return percent(known, known + unknown)
}

/** Whole milliseconds of less than two centuries keep their exactness here. */
function percent(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.floor((part * 100_000) / whole) / 1000
}

/**
 * The outages of a monitor that touch a span, newest first. One that nobody watched for a while is still one.
 * `span.to` must not lie ahead.
 */
export function outagesOf(monitor: MonitorPast, maintenance: readonly Span[], span: Span): Outage[] {
  const outages: Omit<Outage, 'downMs'>[] = []
  for (const { startedAt, endedAt, state, cause } of monitor.intervals) {
    const last = outages.at(-1)
    if (state !== 'DOWN' || startedAt >= span.to) continue
    if (last?.endedAt?.getTime() === startedAt.getTime()) outages[outages.length - 1] = { ...last, endedAt }
    else outages.push({ startedAt, endedAt, cause })
  }
  const touching = outages.filter(({ endedAt }) => endedAt === null || endedAt > span.from)
  const whole = { from: touching[0]?.startedAt ?? span.from, to: span.to }
  const past = stretches([monitor], maintenance, whole)
  return touching.reverse().map((outage) => {
    const { down } = tally(past, { from: outage.startedAt, to: outage.endedAt ?? span.to })
    return { ...outage, downMs: down }
  })
}
