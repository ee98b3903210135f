import type { Context } from '../../core/context.ts'
import { invalid } from '../../core/validation.ts'
import type { Incident, IncidentStatus, ServiceStatus } from '../../generated/prisma/client.ts'
import { stateByIncidents } from '../service/statement.ts'
import { requireNotInFuture } from '../timeline/update-time.ts'

/** The parts of an update that determine the incident's state. */
export interface TimelineItem {
  readonly status: IncidentStatus
  readonly createdAt: Date
  readonly services: readonly { readonly serviceId: string; readonly status: ServiceStatus }[]
}

/** The state of an incident, derived from its timeline. */
export interface DerivedState {
  /** The status of the newest update. */
  readonly status: IncidentStatus
  /** When the first update of the final resolution was posted; null: the incident is open. */
  readonly resolvedAt: Date | null
  /** For each service, the status in the newest update that names it. */
  readonly services: ReadonlyMap<string, ServiceStatus>
}

/** Derives the state of an incident from its updates, oldest first. Expects at least one. */
export function deriveState(updates: readonly TimelineItem[]): DerivedState {
  let status: IncidentStatus = 'INVESTIGATING'
  let resolvedAt: Date | null = null
  const statuses = new Map<string, ServiceStatus>()
  for (const update of updates) {
    for (const service of update.services) statuses.set(service.serviceId, service.status)
    resolvedAt = update.status === 'RESOLVED' ? (resolvedAt ?? update.createdAt) : null
    status = update.status
  }
  if (status === 'RESOLVED') for (const id of statuses.keys()) statuses.set(id, 'OPERATIONAL')
  return { status, resolvedAt, services: statuses }
}

/**
 * Returns the resolution time after a correction: that of the timeline if it changed, otherwise the known one, which
 * may have been set manually.
 */
export function correctedResolvedAt(known: Date | null, was: DerivedState, is: DerivedState): Date | null {
  if (is.resolvedAt === null) return null
  return was.resolvedAt?.getTime() === is.resolvedAt.getTime() ? (known ?? is.resolvedAt) : is.resolvedAt
}

/** Returns the services whose status a correction changes; null: the timeline no longer names the service. */
export function changedServices(was: DerivedState, is: DerivedState): Map<string, ServiceStatus | null> {
  const ids = [...new Set([...was.services.keys(), ...is.services.keys()])]
  const changed = ids.filter((id) => was.services.get(id) !== is.services.get(id))
  return new Map(changed.map((id) => [id, is.services.get(id) ?? null]))
}

/** @throws Invalid if the incident would be resolved before it started. */
export function requireStartBeforeEnd(path: string, startedAt: Date, resolvedAt: Date | null): void {
  if (resolvedAt === null || resolvedAt >= startedAt) return
  throw invalid([{ path: [path], message: 'would resolve the incident before it started' }])
}

/** Reads the updates of an incident, oldest first. */
export function readTimeline({ db }: Context, incidentId: string): Promise<(TimelineItem & { readonly id: string })[]> {
  return db.incidentUpdate.findMany({
    where: { incidentId },
    select: { id: true, status: true, createdAt: true, services: { select: { serviceId: true, status: true } } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
}

/**
 * Corrects a timeline inside a change, and updates the incident's status, resolution time and service statuses
 * accordingly. Values that the correction does not affect stay, even if they were set manually.
 * @param path the input field to name if the times are invalid.
 */
export async function correctTimeline<T>(
  tx: Context,
  before: Incident,
  path: string,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly incident: Incident }> {
  const { id: incidentId } = before
  const was = deriveState(await readTimeline(tx, incidentId))
  const result = await work()
  const is = deriveState(await readTimeline(tx, incidentId))
  const resolvedAt = correctedResolvedAt(before.resolvedAt, was, is)
  requireStartBeforeEnd(path, before.startedAt, resolvedAt)
  await setServices(tx, incidentId, was, is)
  const data = { status: is.status, resolvedAt, automatic: false, version: { increment: 1 } }
  const incident = await tx.db.incident.update({ where: { id: incidentId }, data })
  await stateByIncidents(tx, [incidentId])
  return { result, incident }
}

async function setServices({ db }: Context, incidentId: string, was: DerivedState, is: DerivedState): Promise<void> {
  const changed = changedServices(was, is)
  if (changed.size > 0)
    await db.incidentService.deleteMany({ where: { incidentId, serviceId: { in: [...changed.keys()] } } })
  const set = [...changed].flatMap(([serviceId, status]) =>
    status === null ? [] : [{ incidentId, serviceId, status }],
  )
  if (set.length > 0) await db.incidentService.createMany({ data: set })
  if (is.status !== 'RESOLVED' || was.status === 'RESOLVED') return
  await db.incidentService.updateMany({ where: { incidentId }, data: { status: 'OPERATIONAL' } })
}

/** @throws Invalid if an open incident has an end, if the end is before the start, or if a time is in the future. */
export function requireTimes(
  { status, startedAt, resolvedAt }: Pick<Incident, 'status' | 'startedAt' | 'resolvedAt'>,
  now: Date,
): void {
  requireNotInFuture('startedAt', startedAt, now)
  requireNotInFuture('resolvedAt', resolvedAt, now)
  if (resolvedAt && status !== 'RESOLVED') {
    throw invalid([{ path: ['resolvedAt'], message: 'must not be given for an incident that is not resolved' }])
  }
  requireStartBeforeEnd('resolvedAt', startedAt, resolvedAt)
}
