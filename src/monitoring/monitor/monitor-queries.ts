import type { Context } from '../../core/context.ts'
import { typeOfId } from '../../core/id.ts'
import type { Monitor, Prisma, Watch } from '../../generated/prisma/client.ts'
import type { Offer } from '../../status/service/service-queries.ts'
import { subjectOf } from '../../status/service/shown-status.ts'
import type { Subject } from '../../status/service/what-is-known.ts'
import type { MonitorFilter } from './monitor-filter.ts'
import { monitorsMatching } from './monitor-filter.ts'

type Db = Pick<Context, 'db'>

const byCreation = [{ createdAt: 'asc' as const }, { id: 'asc' as const }]

/** The fields of a monitor in lists. They exclude its options, which are large. */
export interface ListedMonitor
  extends Pick<Monitor, 'id' | 'serviceId' | 'name' | 'kind' | 'state' | 'unknownSince' | 'createdAt'> {
  readonly watches: readonly Pick<Watch, 'lastProbedAt' | 'lastMessage'>[]
}

const listed = {
  ...{ id: true, serviceId: true, name: true, kind: true, state: true, unknownSince: true, createdAt: true },
  watches: { select: { lastProbedAt: true, lastMessage: true } },
} as const

/**
 * Returns the rows to page through: an organization's monitors that match a filter.
 * @throws Invalid for an invalid filter.
 */
export function pageableMonitors({ db }: Db, organizationId: string, filter: MonitorFilter) {
  return {
    where: { organizationId, ...monitorsMatching(filter) },
    read: (slice: Omit<Prisma.MonitorFindManyArgs, 'select' | 'include'>): Promise<ListedMonitor[]> =>
      db.monitor.findMany({ ...slice, select: listed }),
    count: (query: Prisma.MonitorCountArgs) => db.monitor.count({ where: query.where, take: query.take }),
  }
}

/** Returns the watch with the newest probe result; undefined: none has a result. */
export function lastProbed<W extends Pick<Watch, 'lastProbedAt'>>(watches: readonly W[]): W | undefined {
  const probedAt = ({ lastProbedAt }: W) => lastProbedAt?.getTime() ?? 0
  return watches
    .filter(({ lastProbedAt }) => lastProbedAt !== null)
    .toSorted((one, other) => probedAt(other) - probedAt(one))[0]
}

/** A monitor with its watches. */
export type WatchedMonitor = Monitor & { readonly watches: readonly Watch[] }

/** Returns the rows to page through: an organization's blacklist monitors. */
export function pageableBlacklistMonitors({ db }: Db, organizationId: string) {
  return {
    where: { organizationId, kind: 'BLACKLIST' as const },
    read: (slice: Omit<Prisma.MonitorFindManyArgs, 'select' | 'include'>): Promise<WatchedMonitor[]> =>
      db.monitor.findMany({ ...slice, include: { watches: true } }),
    count: (query: Prisma.MonitorCountArgs) => db.monitor.count({ where: query.where, take: query.take }),
  }
}

/** A monitor as a form offers it. */
export type NamedMonitor = Pick<Monitor, 'id' | 'name'>

const named = { select: { id: true, name: true }, orderBy: byCreation } as const

/** Returns the organization's monitors with these ids, in order of creation. */
export function readMonitorNames({ db }: Db, organizationId: string, ids: readonly string[]): Promise<NamedMonitor[]> {
  return db.monitor.findMany({ where: { organizationId, id: { in: [...ids] } }, ...named })
}

/** Returns the names of all monitors of an organization that match a filter. @throws Invalid for an invalid filter. */
export function listMonitorNames({ db }: Db, organizationId: string, filter: MonitorFilter): Promise<NamedMonitor[]> {
  const where = { organizationId, ...monitorsMatching(filter) }
  return db.monitor.findMany({ where, select: { id: true, name: true } })
}

/**
 * Returns the chosen monitors, and the first other ones in order of creation.
 * @param excludedId a monitor to leave out; null: none.
 * @param limit the maximum number of other monitors.
 */
export async function offerMonitors(
  { db }: Db,
  organizationId: string,
  { chosenIds, excludedId, limit }: OfferOptions,
): Promise<Offer<NamedMonitor>> {
  const [chosen, others] = await Promise.all([
    chosenIds.length === 0 ? [] : readMonitorNames({ db }, organizationId, chosenIds),
    db.monitor.findMany({
      where: { organizationId, id: { notIn: excludedId === null ? [...chosenIds] : [excludedId, ...chosenIds] } },
      ...named,
      take: limit + 1,
    }),
  ])
  return { chosen, others: others.slice(0, limit), hasMore: others.length > limit }
}

interface OfferOptions {
  readonly chosenIds: readonly string[]
  readonly excludedId: string | null
  readonly limit: number
}

/** Returns the first monitors of a service, by name. */
export function listMonitorsOfService(
  { db }: Db,
  organizationId: string,
  serviceId: string,
  limit: number,
): Promise<Pick<Monitor, 'id' | 'name' | 'state'>[]> {
  return db.monitor.findMany({
    where: { organizationId, serviceId },
    select: { id: true, name: true, state: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    take: limit,
  })
}

/** A monitor that needs attention. */
export type UnhealthyMonitor = Pick<Monitor, 'id' | 'name' | 'state' | 'stateSince' | 'unknownSince'>

/** Returns the monitors of an organization that are down, degraded or unknown, most recently changed first. */
export function listUnhealthyMonitors({ db }: Db, organizationId: string, limit: number): Promise<UnhealthyMonitor[]> {
  return db.monitor.findMany({
    where: { organizationId, OR: [{ state: { in: ['DOWN', 'DEGRADED'] } }, { unknownSince: { not: null } }] },
    select: { id: true, name: true, state: true, stateSince: true, unknownSince: true },
    orderBy: [{ stateSince: 'desc' }, { id: 'asc' }],
    take: limit,
  })
}

/** A monitor that waits for its first result, and what its probes have said. */
export interface PendingMonitor extends Pick<Monitor, 'id' | 'name' | 'kind' | 'serviceId'> {
  readonly watches: readonly Pick<Watch, 'lastProbedAt' | 'lastMessage'>[]
}

/** Returns the monitors of an organization that wait for a first result, oldest first. */
export function listPendingMonitors({ db }: Db, organizationId: string, limit: number): Promise<PendingMonitor[]> {
  return db.monitor.findMany({
    where: { organizationId, state: 'PENDING', unknownSince: null },
    select: { id: true, name: true, kind: true, serviceId: true, watches: listed.watches },
    orderBy: byCreation,
    take: limit,
  })
}

/** Returns the monitors of an organization without a service, as subjects of `whatIsKnown`. Runs one statement. */
export async function readMonitorsWithoutService({ db }: Db, organizationId: string): Promise<Subject[]> {
  const found = await db.monitor.groupBy({
    by: ['state'],
    where: { organizationId, serviceId: null },
    _count: { _all: true, unknownSince: true },
    _max: { stateSince: true, unknownSince: true },
  })
  return found.flatMap(({ state, _count, _max }) => {
    const stateSince = _max.stateSince ?? new Date(0)
    const of = (unknownSince: Date | null, count: number) => {
      const subject = count === 0 ? null : subjectOf({ state, stateSince, unknownSince })
      return subject === null ? [] : [{ ...subject, count }]
    }
    return [...of(null, _count._all - _count.unknownSince), ...of(_max.unknownSince, _count.unknownSince)]
  })
}

/** Returns the id of the service of an organization's monitor; null: it has none, or there is no such monitor. */
export async function serviceIdOf({ db }: Db, organizationId: string, monitorId: string): Promise<string | null> {
  if (typeOfId(monitorId) !== 'Monitor') return null
  const found = await db.monitor.findUnique({ where: { id: monitorId, organizationId }, select: { serviceId: true } })
  return found?.serviceId ?? null
}
