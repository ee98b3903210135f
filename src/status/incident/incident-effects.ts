import type { ServiceStatus } from '../../generated/prisma/enums.ts'
import type { ImpairedStatus, ShownStatus } from '../service/service-status.ts'
import { impairedStatuses, worseStatus } from '../service/service-status.ts'

/** A span of time in which an incident gave a service a status. */
export interface IncidentEffect {
  readonly from: Date
  readonly to: Date
  readonly status: ImpairedStatus
}

/** An incident update as seen by one service. */
export interface ServiceUpdate {
  readonly at: Date
  readonly isResolved: boolean
  /** The status that the update gives the service; null if it does not name it. */
  readonly status: ServiceStatus | null
}

/** The parts of an incident that determine its effect on one service. */
export interface EffectCause {
  readonly startedAt: Date
  /** Null while it is open. */
  readonly resolvedAt: Date | null
  /** The incident's current status for the service; null if the incident does not name it. */
  readonly current: ServiceStatus | null
}

/**
 * Returns the effects of an incident on a service over time. The status in its first update applies from the start of
 * the incident. A status lasts until another update changes it or the incident is resolved, when the service recovers;
 * after a reopening, it stays operational until an update names it. A resolution time that was set manually replaces
 * that of the last resolution. The current status of an open incident, which may have been edited, replaces that of its
 * last update.
 * @param updates of the incident, oldest first.
 */
export function effectsOf(incident: EffectCause, updates: readonly ServiceUpdate[], now: Date): IncidentEffect[] {
  const changes = changesOf(incident, updates)
  if (!changes.some(({ status }) => isImpaired(status))) return []
  const start = incident.startedAt.getTime()
  // An open incident has an effect from its first millisecond on.
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

/**
 * Returns when an incident stopped to concern a service: when the service recovered, which may be before the resolution;
 * null: it still does. An incident that never impaired the service concerns it until its resolution.
 * @param effects of the incident on the service, oldest first, as of `now`.
 */
export function endOfPart(resolvedAt: Date | null, effects: readonly IncidentEffect[], now: Date): Date | null {
  const last = effects.at(-1)
  if (last === undefined) return resolvedAt
  return resolvedAt === null && last.to >= now ? null : last.to
}

interface Change {
  /** Epoch milliseconds. */
  readonly at: number
  readonly status: ServiceStatus
}

function changesOf({ startedAt, resolvedAt, current }: EffectCause, updates: readonly ServiceUpdate[]): Change[] {
  const lastOpen = updates.findLastIndex(({ isResolved }) => !isResolved)
  // The final resolution takes effect at its own time. A past incident may have been recorded as resolved, with its
  // earlier statuses.
  const counting = resolvedAt === null ? updates.length : Math.max(lastOpen + 1, 1)
  const changes: Change[] = []
  for (const [index, { at, isResolved, status }] of updates.slice(0, counting).entries()) {
    if (status !== null) changes.push({ at: (index === 0 ? startedAt : at).getTime(), status })
    if (isResolved && index <= lastOpen) changes.push({ at: at.getTime(), status: 'OPERATIONAL' })
  }
  const latest = changes.at(-1)
  if (resolvedAt !== null || current === null || current === (latest?.status ?? 'OPERATIONAL')) return changes
  const since = latest === undefined ? startedAt : (updates.at(-1)?.at ?? startedAt)
  return [...changes, { at: since.getTime(), status: current }]
}

function isImpaired(status: ShownStatus): status is ImpairedStatus {
  return impairedStatuses.some((impaired) => impaired === status)
}

/**
 * Returns the status that a new incident proposes for the service that its author came from: the one that the page shows,
 * if the service is impaired; otherwise none. It proposes nothing for other services, whose problems may be those of other
 * incidents.
 * @param from the id of the service; null: the author came from none.
 */
export function proposedStatuses(
  services: readonly { readonly id: string; readonly shown: ShownStatus }[],
  from: string | null,
): ReadonlyMap<string, ImpairedStatus> {
  const found = services.find(({ id }) => id === from)
  return found !== undefined && isImpaired(found.shown) ? new Map([[found.id, found.shown]]) : new Map()
}

/** Returns the worst status of effects within a span, or null. */
export function worstEffect(
  effects: readonly IncidentEffect[],
  span: { readonly from: Date; readonly to: Date },
): ImpairedStatus | null {
  return worstEffects(effects, [span])[0] ?? null
}

/**
 * Returns the worst status of effects within each of many spans in one pass; null if there is none.
 * @param spans in order of time, without overlaps.
 */
export function worstEffects(
  effects: readonly IncidentEffect[],
  spans: readonly { readonly from: Date; readonly to: Date }[],
): (ImpairedStatus | null)[] {
  const worst = spans.map((): ImpairedStatus | null => null)
  if (effects.length === 0) return worst
  // Comparing numbers is many times faster than comparing dates.
  const times = spans.map(({ from, to }) => [from.getTime(), to.getTime()] as const)
  for (const { from, to, status } of effects) {
    const [begin, end] = [from.getTime(), to.getTime()]
    for (let index = firstEndingAfter(times, begin); (times[index]?.[0] ?? Infinity) < end; index++) {
      const other = worst[index]
      worst[index] = other == null ? status : worseStatus(other, status)
    }
  }
  return worst
}

/** Returns the index of the first span that ends after a time, by bisection; the number of spans if none does. */
function firstEndingAfter(spans: readonly (readonly [from: number, to: number])[], time: number): number {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.[1] ?? 0) > time) high = middle
    else low = middle + 1
  }
  return low
}
