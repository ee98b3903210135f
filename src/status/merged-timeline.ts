import type { IncidentStatus, ServiceStatus } from '../generated/prisma/enums.ts'
import { firstFreeTime } from './incident-corrections.ts'

/** An incident to merge, as far as its timeline goes. */
export interface MergedPart {
  readonly startedAt: Date
  /** Null: it is open. */
  readonly resolvedAt: Date | null
  /** What it says of its services now. */
  readonly current: ReadonlyMap<string, ServiceStatus>
  /** Oldest first; at least one. */
  readonly updates: readonly PartUpdate[]
}

/** An update. */
interface PartUpdate {
  readonly id: string
  readonly status: IncidentStatus
  readonly createdAt: Date
  readonly services: readonly NamedStatus[]
}

interface NamedStatus {
  readonly serviceId: string
  readonly status: ServiceStatus
}

/** An update of the joint timeline. */
export interface JointUpdate extends Omit<PartUpdate, 'id'> {
  /** Null: one without words, to add where an incident was recorded after it was over. */
  readonly id: string | null
}

/** The joint timeline of two incidents, and what follows from it. */
export interface JointTimeline {
  readonly startedAt: Date
  readonly resolvedAt: Date | null
  readonly status: IncidentStatus
  readonly current: ReadonlyMap<string, ServiceStatus>
  /** Oldest first, at different times. */
  readonly updates: readonly JointUpdate[]
}

/**
 * Joins the timelines of two incidents into one that says of each service, at each time, the worse of what both said: it is
 * resolved while both are, or the one that has begun is. So an update that resolved one of them while the other was open says that
 * the services of the first work again, and has the status of the other. The first update of the one that began later is moved to
 * its start, and the resolution of the one that ended earlier to its end, where people had set these times.
 */
export function joinTimelines(one: MergedPart, other: MergedPart): JointTimeline {
  const parts = [partOf(one), partOf(other)]
  const startedAt = new Date(Math.min(one.startedAt.getTime(), other.startedAt.getTime()))
  const states = parts.map((): State => ({ status: null, services: new Map() }))
  const items = parts
    .flatMap((updates, part) => updates.map((update) => ({ update, part })))
    .sort((a, b) => a.update.createdAt.getTime() - b.update.createdAt.getTime())
  const taken: Date[] = []
  const updates: JointUpdate[] = []
  let before = new Map<string, ServiceStatus>()
  for (const { update, part } of items) {
    const state = states[part]
    if (state === undefined) continue
    apply(state, update)
    const status = jointStatus(states, update.status)
    const after = worst(states)
    const named = new Set(update.services.map(({ serviceId }) => serviceId))
    const services = [...after].filter(([id, value]) => named.has(id) || before.get(id) !== value)
    const createdAt = firstFreeTime(update.createdAt, taken)
    taken.push(createdAt)
    // A resolution says of every service that it works.
    const stated = status === 'RESOLVED' ? [] : services.map(([serviceId, value]) => ({ serviceId, status: value }))
    updates.push({ id: update.id, status, createdAt, services: stated })
    before = after
  }
  const [first, second] = updates
  const posted = [...one.updates, ...other.updates].find(({ id }) => id === first?.id)?.createdAt
  // Whichever says something first says it from the start of the incident on, at whatever time it was posted.
  if (first && posted && (second === undefined || posted < second.createdAt))
    updates[0] = { ...first, createdAt: posted }
  const isOpen = states.some(({ status }) => status !== 'RESOLVED')
  return {
    startedAt,
    resolvedAt: isOpen ? null : latest(one.resolvedAt, other.resolvedAt),
    status: updates.at(-1)?.status ?? 'INVESTIGATING',
    current: before,
    updates,
  }
}

interface State {
  /** Null: it has not begun. */
  status: IncidentStatus | null
  services: Map<string, ServiceStatus>
}

function apply(state: State, { status, services }: JointUpdate): void {
  for (const { serviceId, status } of services) state.services.set(serviceId, status)
  if (status === 'RESOLVED') for (const id of state.services.keys()) state.services.set(id, 'OPERATIONAL')
  state.status = status
}

/** Open while one of both is; the one that is has the say when the other is resolved. */
function jointStatus(states: readonly State[], own: IncidentStatus): IncidentStatus {
  if (own !== 'RESOLVED') return own
  return states.find(({ status }) => status !== null && status !== 'RESOLVED')?.status ?? 'RESOLVED'
}

/** How bad statuses of services are, for comparison. */
export const severities = {
  OPERATIONAL: 0,
  UNDER_MAINTENANCE: 0,
  DEGRADED_PERFORMANCE: 1,
  PARTIAL_OUTAGE: 2,
  MAJOR_OUTAGE: 3,
} as const satisfies Record<ServiceStatus, number>

function worst(states: readonly State[]): Map<string, ServiceStatus> {
  const joint = new Map<string, ServiceStatus>()
  for (const [id, status] of states.flatMap(({ services }) => [...services])) {
    const known = joint.get(id)
    if (known === undefined || severities[status] > severities[known]) joint.set(id, status)
  }
  return joint
}

/** Returns the updates of one of them as they count, at the times from which they do. */
function partOf({ startedAt, resolvedAt, current, updates }: MergedPart): JointUpdate[] {
  // Services that people took off the incident do not count any more.
  const counting = updates.map(({ services, ...update }) => ({
    ...update,
    services: services.filter(({ serviceId }) => current.has(serviceId)),
  }))
  const [first, ...rest] = counting
  if (first === undefined) return []
  if (counting.every(({ status }) => status === 'RESOLVED'))
    return [...recorded(startedAt, resolvedAt, first, rest[0]), ...rest]
  const latest = (rest[0]?.createdAt.getTime() ?? Number.POSITIVE_INFINITY) - 1
  const begun = [{ ...first, createdAt: new Date(Math.min(startedAt.getTime(), latest)) }, ...rest]
  return resolvedAt === null ? withCurrent(begun, current) : endedAt(begun, resolvedAt)
}

/** A past incident that was recorded as resolved, with what it was: it began without words. */
function recorded(
  startedAt: Date,
  resolvedAt: Date | null,
  first: JointUpdate,
  next: JointUpdate | undefined,
): JointUpdate[] {
  const begin = { id: null, status: 'INVESTIGATING', createdAt: startedAt, services: first.services } as const
  const end = Math.max((resolvedAt ?? first.createdAt).getTime(), startedAt.getTime() + 1)
  const at = Math.min(end, (next?.createdAt.getTime() ?? Number.POSITIVE_INFINITY) - 1)
  return [begin, { ...first, createdAt: new Date(at), services: [] }]
}

/** What people set for the services of an open incident counts since its last update. */
function withCurrent(updates: readonly JointUpdate[], current: MergedPart['current']): JointUpdate[] {
  const state: State = { status: null, services: new Map() }
  for (const update of updates) apply(state, update)
  const set = [...current].filter(([id, status]) => (state.services.get(id) ?? 'OPERATIONAL') !== status)
  const changed = new Map(set)
  return updates.map((update, index) => {
    if (index < updates.length - 1) return update
    const others = update.services.filter(({ serviceId }) => !changed.has(serviceId))
    return { ...update, services: [...others, ...set.map(([serviceId, status]) => ({ serviceId, status }))] }
  })
}

/** Moves the update that resolved it to the time that people set, as far as the order allows. */
function endedAt(updates: readonly JointUpdate[], resolvedAt: Date): JointUpdate[] {
  const lastOpen = updates.findLastIndex(({ status }) => status !== 'RESOLVED')
  const earliest = (updates[lastOpen]?.createdAt.getTime() ?? 0) + 1
  const next = updates[lastOpen + 2]?.createdAt.getTime() ?? Number.POSITIVE_INFINITY
  const at = Math.min(Math.max(resolvedAt.getTime(), earliest), next - 1)
  return updates.map((update, index) => (index === lastOpen + 1 ? { ...update, createdAt: new Date(at) } : update))
}

const latest = (one: Date | null, other: Date | null): Date | null =>
  one === null || other === null ? (one ?? other) : one > other ? one : other
