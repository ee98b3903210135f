import type { IncidentStatus, ServiceStatus } from '../../generated/prisma/enums.ts'
import { worseStatus } from '../service/service-status.ts'
import { firstFreeTime } from '../timeline/update-time.ts'

/** The timeline of an incident to merge. */
export interface MergedPart {
  readonly startedAt: Date
  /** Null while it is open. */
  readonly resolvedAt: Date | null
  /** The current statuses of its services. */
  readonly current: ReadonlyMap<string, ServiceStatus>
  /** Oldest first; at least one. */
  readonly updates: readonly PartUpdate[]
}

/** An update of an incident to merge. */
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
  /** Null for a new update without a message, which begins an incident that was recorded after its end. */
  readonly id: string | null
}

/** The joint timeline of two incidents, with the state that follows from it. */
export interface JointTimeline {
  readonly startedAt: Date
  readonly resolvedAt: Date | null
  readonly status: IncidentStatus
  readonly current: ReadonlyMap<string, ServiceStatus>
  /** Oldest first, at distinct times. */
  readonly updates: readonly JointUpdate[]
}

/**
 * Joins the timelines of two incidents. At each time, a service has the worse of its two statuses. The joint incident
 * is resolved while every incident that has begun is resolved: an update that resolved only one of them keeps the
 * status of the other, and its services recover. If people set the times manually, the first update of the later
 * incident moves to its start, and the resolution of the earlier one to its end.
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
    // A resolution makes all services operational.
    const stated = status === 'RESOLVED' ? [] : services.map(([serviceId, value]) => ({ serviceId, status: value }))
    updates.push({ id: update.id, status, createdAt, services: stated })
    before = after
  }
  const [first, second] = updates
  const posted = [...one.updates, ...other.updates].find(({ id }) => id === first?.id)?.createdAt
  // The first update applies from the start of the incident, whenever it was posted.
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
  /** Null before the incident begins. */
  status: IncidentStatus | null
  services: Map<string, ServiceStatus>
}

function apply(state: State, { status, services }: JointUpdate): void {
  for (const { serviceId, status } of services) state.services.set(serviceId, status)
  if (status === 'RESOLVED') for (const id of state.services.keys()) state.services.set(id, 'OPERATIONAL')
  state.status = status
}

/** Returns the joint status: that of the update, unless it resolves only one incident, then that of the open one. */
function jointStatus(states: readonly State[], own: IncidentStatus): IncidentStatus {
  if (own !== 'RESOLVED') return own
  return states.find(({ status }) => status !== null && status !== 'RESOLVED')?.status ?? 'RESOLVED'
}

function worst(states: readonly State[]): Map<string, ServiceStatus> {
  const joint = new Map<string, ServiceStatus>()
  for (const [id, status] of states.flatMap(({ services }) => [...services])) {
    joint.set(id, worseStatus(joint.get(id) ?? status, status))
  }
  return joint
}

/** Returns the updates of an incident at the times from which they apply. */
function partOf({ startedAt, resolvedAt, current, updates }: MergedPart): JointUpdate[] {
  // Services that people removed from the incident no longer count.
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

/**
 * Splits the first update of a past incident that was recorded as resolved into a start without a message and a
 * resolution.
 */
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

/** Adds service statuses that people set on an open incident to its last update. */
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

/** Moves the resolution to the time that people set, as far as the order allows. */
function endedAt(updates: readonly JointUpdate[], resolvedAt: Date): JointUpdate[] {
  const lastOpen = updates.findLastIndex(({ status }) => status !== 'RESOLVED')
  const earliest = (updates[lastOpen]?.createdAt.getTime() ?? 0) + 1
  const next = updates[lastOpen + 2]?.createdAt.getTime() ?? Number.POSITIVE_INFINITY
  const at = Math.min(Math.max(resolvedAt.getTime(), earliest), next - 1)
  return updates.map((update, index) => (index === lastOpen + 1 ? { ...update, createdAt: new Date(at) } : update))
}

const latest = (one: Date | null, other: Date | null): Date | null =>
  one === null || other === null ? (one ?? other) : one > other ? one : other
