import type { Context } from '../context.ts'
import type { Incident, IncidentStatus, ServiceStatus } from '../generated/prisma/client.ts'
import { invalid } from '../validate.ts'

/** What an entry of an incident's timeline says of the incident, and when. */
export interface PastEntry {
  readonly status: IncidentStatus
  readonly createdAt: Date
  readonly services: readonly { readonly serviceId: string; readonly status: ServiceStatus }[]
}

/** What a timeline makes of its incident. */
export interface Story {
  /** The newest entry's. */
  readonly status: IncidentStatus
  /** When the entry was written with which it ended; null: it is open. */
  readonly resolvedAt: Date | null
  /** What it does to services: of each what the newest entry says that names it. */
  readonly services: ReadonlyMap<string, ServiceStatus>
}

/** What a timeline says, oldest entry first; there is at least one. */
export function storyOf(entries: readonly PastEntry[]): Story {
  let status: IncidentStatus = 'INVESTIGATING'
  let resolvedAt: Date | null = null
  const said = new Map<string, ServiceStatus>()
  for (const entry of entries) {
    for (const service of entry.services) said.set(service.serviceId, service.status)
    resolvedAt = entry.status === 'RESOLVED' ? (resolvedAt ?? entry.createdAt) : null
    status = entry.status
  }
  if (status === 'RESOLVED') for (const id of said.keys()) said.set(id, 'OPERATIONAL')
  return { status, resolvedAt, services: said }
}

/** The time at which an incident is resolved after a correction: it follows its timeline, unless it was set by itself. */
export function resolvedAfter(known: Date | null, was: Story, is: Story): Date | null {
  if (is.resolvedAt === null) return null
  return was.resolvedAt?.getTime() === is.resolvedAt.getTime() ? (known ?? is.resolvedAt) : is.resolvedAt
}

/** Which services a correction changes: those of which the timeline says something else than before, or (null) nothing more. */
export function changedServices(was: Story, is: Story): Map<string, ServiceStatus | null> {
  const ids = [...new Set([...was.services.keys(), ...is.services.keys()])]
  const changed = ids.filter((id) => was.services.get(id) !== is.services.get(id))
  return new Map(changed.map((id) => [id, is.services.get(id) ?? null]))
}

/** A time that no other entry has: the wanted one, or just after it. */
export function freeTime(wanted: Date, taken: readonly Date[]): Date {
  const times = new Set(taken.map((each) => each.getTime()))
  let time = wanted.getTime()
  while (times.has(time)) time += 1
  return new Date(time)
}

/** @throws Invalid when a time that is told is still to come. */
export function requirePast(path: string, at: Date | null | undefined, now: Date): void {
  if (at && at > now) throw invalid([{ path: [path], message: 'must not be in the future' }])
}

/** @throws Invalid when an incident would be resolved before it started. */
export function requireOrder(path: string, startedAt: Date, resolvedAt: Date | null): void {
  if (resolvedAt === null || resolvedAt >= startedAt) return
  throw invalid([{ path: [path], message: 'would have the incident resolved before it started' }])
}

/** The entries of an incident's timeline, oldest first. */
export function pastOf({ db }: Context, incidentId: string): Promise<(PastEntry & { readonly id: string })[]> {
  return db.incidentUpdate.findMany({
    where: { incidentId },
    select: { id: true, status: true, createdAt: true, services: { select: { serviceId: true, status: true } } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
}

/**
 * Corrects the timeline of an incident, in the transaction of a change, and brings the incident in line with it: its status
 * is the newest entry's, it is resolved when that says so, and of services holds what the newest entry says that names them.
 * What the correction does not touch stays, also where it was set by itself.
 * @param path the member of the input to name when the times make no sense.
 */
export async function correct<T>(
  tx: Context,
  before: Incident,
  path: string,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly incident: Incident }> {
  const { id: incidentId } = before
  const was = storyOf(await pastOf(tx, incidentId))
  const result = await work()
  const is = storyOf(await pastOf(tx, incidentId))
  const resolvedAt = resolvedAfter(before.resolvedAt, was, is)
  requireOrder(path, before.startedAt, resolvedAt)
  await setServices(tx, incidentId, was, is)
  const data = { status: is.status, resolvedAt, automatic: false, version: { increment: 1 } }
  return { result, incident: await tx.db.incident.update({ where: { id: incidentId }, data }) }
}

async function setServices({ db }: Context, incidentId: string, was: Story, is: Story): Promise<void> {
  const changed = changedServices(was, is)
  await db.incidentService.deleteMany({ where: { incidentId, serviceId: { in: [...changed.keys()] } } })
  const set = [...changed].flatMap(([serviceId, status]) =>
    status === null ? [] : [{ incidentId, serviceId, status }],
  )
  await db.incidentService.createMany({ data: set })
  if (is.status !== 'RESOLVED' || was.status === 'RESOLVED') return
  await db.incidentService.updateMany({ where: { incidentId }, data: { status: 'OPERATIONAL' } })
}
