import type { ServiceStatus } from '../../generated/prisma/enums.ts'
import { worseStatus } from '../service/service-status.ts'
import { firstFreeTime } from '../timeline/update-time.ts'
import type { JointUpdate, MergedPart } from './merged-timeline.ts'

/** The status that an update gives one service. */
interface NamedStatus {
  readonly serviceId: string
  readonly status: ServiceStatus
}

/** The timelines of two open incidents after a service has moved from one to the other. */
export interface MovedService {
  /** The updates of both up to the move, oldest first, including statuses that people set after the last updates. */
  readonly from: readonly JointUpdate[]
  readonly into: readonly JointUpdate[]
  /** The status of the service after the move, in the incident that it moved to: the worse of both. */
  readonly status: ServiceStatus
}

/**
 * Returns the timelines of two open incidents after a service has moved from one to the other, at a time after all
 * their updates. Until then both keep their statuses; after that only the target has the service, so that each minute
 * counts once.
 */
export function moveService(from: MergedPart, into: MergedPart, serviceId: string): MovedService {
  const [here, there] = [from.current.get(serviceId) ?? 'OPERATIONAL', into.current.get(serviceId) ?? 'OPERATIONAL']
  const status = worseStatus(there, here)
  return { from: withCurrentStatuses(from), into: withCurrentStatuses(into), status }
}

/**
 * Returns the updates of an open incident, including the statuses that people set after the last one, so that another
 * update can follow. A status that no update named applies from the start; any other from the last update
 * (incident-effects.ts).
 */
function withCurrentStatuses({ current, updates }: MergedPart): readonly JointUpdate[] {
  const known = lastStatuses(updates)
  const changed = [...current]
    .filter(([serviceId, status]) => (known.get(serviceId) ?? 'OPERATIONAL') !== status)
    .map(([serviceId, status]) => ({ serviceId, status }))
  const [first, last] = [updates[0], updates.at(-1)]
  if (changed.length === 0 || first === undefined || last === undefined) return updates
  const wasResolved = updates.some(({ status }) => status === 'RESOLVED')
  const wasNamed = ({ serviceId }: NamedStatus) => wasResolved || known.has(serviceId)
  const [since, always] = [changed.filter(wasNamed), changed.filter((each) => !wasNamed(each))]
  const begun = updates.map((update, index) => (index === 0 ? withStatuses(update, always) : update))
  if (since.length === 0) return begun
  if (updates.length > 1)
    return begun.map((update, index) =>
      index > 0 && index === begun.length - 1 ? withStatuses(update, since) : update,
    )
  // The only update applies from the start, so later statuses go into a new update without a message.
  return [
    ...begun,
    { id: null, status: last.status, createdAt: firstFreeTime(last.createdAt, [last.createdAt]), services: since },
  ]
}

/** Returns the last status of each service according to the updates. A resolution makes all services operational. */
function lastStatuses(updates: MergedPart['updates']): Map<string, ServiceStatus> {
  const known = new Map<string, ServiceStatus>()
  for (const { status, services } of updates) {
    for (const each of services) known.set(each.serviceId, each.status)
    if (status === 'RESOLVED') for (const id of known.keys()) known.set(id, 'OPERATIONAL')
  }
  return known
}

function withStatuses(update: JointUpdate, statuses: readonly NamedStatus[]): JointUpdate {
  if (statuses.length === 0) return update
  const changed = new Set(statuses.map(({ serviceId }) => serviceId))
  return { ...update, services: [...update.services.filter(({ serviceId }) => !changed.has(serviceId)), ...statuses] }
}
