import type { ServiceStatus } from '../generated/prisma/enums.ts'
import { firstFreeTime } from './incident-corrections.ts'
import type { JointUpdate, MergedPart } from './merged-timeline.ts'
import { severities } from './merged-timeline.ts'

/** What an update says of one service. */
interface Statement {
  readonly serviceId: string
  readonly status: ServiceStatus
}

/** What open incidents say once a service has moved from one to the other. */
export interface MovedService {
  /** The updates of both until then, oldest first: what people set since the last ones is said by them. */
  readonly from: readonly JointUpdate[]
  readonly into: readonly JointUpdate[]
  /** The status that the service has from then on in the incident to which it moved: the worse of what both said. */
  readonly status: ServiceStatus
}

/**
 * Returns what two open incidents say once a service has moved from one to the other, at a time after all their updates. Until then
 * both say what they said, at every moment; from then on only the other one speaks of the service, so that each minute counts once.
 */
export function moveService(from: MergedPart, into: MergedPart, serviceId: string): MovedService {
  const [here, there] = [from.current.get(serviceId) ?? 'OPERATIONAL', into.current.get(serviceId) ?? 'OPERATIONAL']
  const status = severities[here] > severities[there] ? here : there
  return { from: settled(from), into: settled(into), status }
}

/**
 * Returns the updates of an open incident with what people set for its services since the last one, so that another can follow: what
 * was never said before holds from the start, anything else since the last update (incident-effects.ts).
 */
function settled({ current, updates }: MergedPart): readonly JointUpdate[] {
  const said = lastSaid(updates)
  const changed = [...current]
    .filter(([serviceId, status]) => (said.get(serviceId) ?? 'OPERATIONAL') !== status)
    .map(([serviceId, status]) => ({ serviceId, status }))
  const [first, last] = [updates[0], updates.at(-1)]
  if (changed.length === 0 || first === undefined || last === undefined) return updates
  const wasResolved = updates.some(({ status }) => status === 'RESOLVED')
  const wasSaid = ({ serviceId }: Statement) => wasResolved || said.has(serviceId)
  const [since, always] = [changed.filter(wasSaid), changed.filter((each) => !wasSaid(each))]
  const begun = updates.map((update, index) => (index === 0 ? saying(update, always) : update))
  if (since.length === 0) return begun
  if (updates.length > 1)
    return begun.map((update, index) => (index > 0 && index === begun.length - 1 ? saying(update, since) : update))
  // The only update holds from the start: what was set after it stands in one without words.
  return [
    ...begun,
    { id: null, status: last.status, createdAt: firstFreeTime(last.createdAt, [last.createdAt]), services: since },
  ]
}

/** Returns what updates said last of each service; a resolution says of all that they work. */
function lastSaid(updates: MergedPart['updates']): Map<string, ServiceStatus> {
  const said = new Map<string, ServiceStatus>()
  for (const { status, services } of updates) {
    for (const each of services) said.set(each.serviceId, each.status)
    if (status === 'RESOLVED') for (const id of said.keys()) said.set(id, 'OPERATIONAL')
  }
  return said
}

function saying(update: JointUpdate, statements: readonly Statement[]): JointUpdate {
  if (statements.length === 0) return update
  const changed = new Set(statements.map(({ serviceId }) => serviceId))
  return { ...update, services: [...update.services.filter(({ serviceId }) => !changed.has(serviceId)), ...statements] }
}
