import type { ServiceStatus } from '../generated/prisma/enums.ts'

/** A status that an incident can give a service while it affects it. */
export type ImpairedStatus = Extract<ServiceStatus, 'DEGRADED_PERFORMANCE' | 'PARTIAL_OUTAGE' | 'MAJOR_OUTAGE'>

/** A stretch of time in which an incident gave a service a status. */
export interface IncidentEffect {
  readonly from: Date
  readonly to: Date
  readonly status: ImpairedStatus
}

/** An incident update, as far as it concerns one service. */
export interface ServiceUpdate {
  readonly at: Date
  readonly isResolved: boolean
  /** The status that it gives the service; null: it does not name the service. */
  readonly status: ServiceStatus | null
}

/** The incident, as far as its effect on one service depends on it. */
export interface EffectCause {
  readonly startedAt: Date
  /** Null: it is open. */
  readonly resolvedAt: Date | null
  /** The status that the incident gives the service now; null: the incident does not name it. */
  readonly current: ServiceStatus | null
}

/**
 * Returns what an incident said of a service over time. What its first update says holds from the start of the incident. A status
 * holds until another update changes it, or until the incident is resolved: then the service has recovered, and after a reopening
 * it is operational until an update names it. A resolution time that was set by hand replaces that of the last resolution, and the
 * current status of an open incident, which may have been edited, replaces what its updates said last.
 * @param updates of the incident, oldest first.
 */
export function effectsOf(incident: EffectCause, updates: readonly ServiceUpdate[], now: Date): IncidentEffect[] {
  const changes = changesOf(incident, updates)
  if (!changes.some(({ status }) => isImpaired(status))) return []
  const start = incident.startedAt.getTime()
  // An open incident says what it says from its very first millisecond.
  const end = incident.resolvedAt?.getTime() ?? Math.max(now.getTime(), (changes.at(-1)?.at ?? now.getTime()) + 1)
  const effects: IncidentEffect[] = []
  for (const [index, { at, status }] of changes.entries()) {
    const from = Math.max(at, start)
    const to = Math.min(changes[index + 1]?.at ?? end, end)
    const last = effects.at(-1)
    if (!isImpaired(status) || from >= to) continue
    if (last?.status === status && last.to.getTime() === from) {
      effects[effects.length - 1] = { ...last, to: new Date(to) }
    } else effects.push({ from: new Date(from), to: new Date(to), status })
  }
  return effects
}

interface Change {
  /** Epoch milliseconds. */
  readonly at: number
  readonly status: ServiceStatus
}

function changesOf({ startedAt, resolvedAt, current }: EffectCause, updates: readonly ServiceUpdate[]): Change[] {
  const lastOpen = updates.findLastIndex(({ isResolved }) => !isResolved)
  // The last resolution counts by its own time. A past incident may have been recorded as resolved, with what it was.
  const counting = resolvedAt === null ? updates.length : Math.max(lastOpen + 1, 1)
  const changes: Change[] = []
  for (const [index, { at, isResolved, status }] of updates.slice(0, counting).entries()) {
    if (status !== null) changes.push({ at: (index === 0 ? startedAt : at).getTime(), status })
    if (isResolved && index <= lastOpen) changes.push({ at: at.getTime(), status: 'OPERATIONAL' })
  }
  const said = changes.at(-1)
  if (resolvedAt !== null || current === null || current === (said?.status ?? 'OPERATIONAL')) return changes
  const since = said === undefined ? startedAt : (updates.at(-1)?.at ?? startedAt)
  return [...changes, { at: since.getTime(), status: current }]
}

const severity = { DEGRADED_PERFORMANCE: 1, PARTIAL_OUTAGE: 2, MAJOR_OUTAGE: 3 } as const satisfies Record<
  ImpairedStatus,
  number
>

function isImpaired(status: ServiceStatus): status is ImpairedStatus {
  return status in severity
}

/** Returns the worst status of effects within a span; null: none reaches into it. */
export function worstEffect(
  effects: readonly IncidentEffect[],
  span: { readonly from: Date; readonly to: Date },
): ImpairedStatus | null {
  return worstEffects(effects, [span])[0] ?? null
}

/**
 * Returns the worst status of effects within each of many spans, in one pass; null: none reaches into it.
 * @param spans in order of time, none overlapping another.
 */
export function worstEffects(
  effects: readonly IncidentEffect[],
  spans: readonly { readonly from: Date; readonly to: Date }[],
): (ImpairedStatus | null)[] {
  const worst = spans.map((): ImpairedStatus | null => null)
  if (effects.length === 0) return worst
  // Comparing dates takes many times as long as comparing numbers.
  const times = spans.map(({ from, to }) => [from.getTime(), to.getTime()] as const)
  for (const { from, to, status } of effects) {
    const [begin, end] = [from.getTime(), to.getTime()]
    for (let index = firstEndingAfter(times, begin); (times[index]?.[0] ?? Infinity) < end; index++) {
      const other = worst[index]
      if (other == null || severity[status] > severity[other]) worst[index] = status
    }
  }
  return worst
}

/** Returns the index of the first span that ends after a time, by bisection; the number of spans when none does. */
function firstEndingAfter(spans: readonly (readonly [from: number, to: number])[], time: number): number {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.[1] ?? 0) > time) high = middle
    else low = middle + 1
  }
  return low
}
