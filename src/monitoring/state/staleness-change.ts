import type { Context, Database } from '../../core/context.ts'
import { lazily } from '../../core/lazily.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Monitor, Watch } from '../../generated/prisma/client.ts'
import { knowsNothing, statusCausesSelect } from '../../status/service/shown-status.ts'
import { unknownGroupReason } from '../group/group-cause.ts'
import type { GroupMember } from '../group/judge-group.ts'
import { monitorEvent, stalenessEvent } from '../monitor-events.ts'
import { deleteClosedDays } from '../uptime/state-intervals.ts'
import type { Schedule, WatchFreshness } from '../watch/staleness.ts'
import { enoughKnownAt, regionsNeeded, staleAfterMs, staleSince } from '../watch/staleness.ts'
import { isUnavailable } from './dependency.ts'

/** A change of a monitor's staleness. */
export type StalenessChange =
  | { readonly kind: 'BEGAN'; readonly since: Date }
  /** @property at when the monitor became known again. */
  | { readonly kind: 'ENDED'; readonly since: Date; readonly at: Date }

/**
 * Returns the change of staleness to write; null: none. A monitor that is marked as stale stays stale until its next
 * known result, even if a worker is running again.
 * @param hasWorker whether any worker is running.
 */
export function stalenessChangeOf(
  monitor: Pick<Monitor, 'agreement' | 'stateSince' | 'unknownSince'>,
  watches: readonly WatchFreshness[],
  schedule: Schedule,
  now: Date,
  hasWorker: boolean,
): StalenessChange | null {
  const markedSince = monitor.unknownSince
  const since = staleSince(watches, { ...monitor, schedule }, now, hasWorker)
  if (markedSince === null) return since === null ? null : { kind: 'BEGAN', since }
  const at = enoughKnownAt(watches, monitor.agreement)
  // A mark in the future means that the clock was set back. Staleness must not last until the clock catches up.
  const isKnown = since === null && at !== null && (at >= markedSince || markedSince > now)
  return isKnown ? { kind: 'ENDED', since: markedSince, at: new Date(Math.max(+at, +markedSince)) } : null
}

/**
 * Writes changes of staleness within the transaction of a change. Returns the new events: those of the monitors, then
 * those of their services.
 */
export async function writeAllStaleness(
  tx: Context,
  found: readonly { readonly monitor: Monitor; readonly staleness: StalenessChange | null }[],
): Promise<NewEvent[]> {
  const services = found.flatMap(({ monitor, staleness }) => (staleness === null ? [] : (monitor.serviceId ?? [])))
  const before = await staleServices(tx, services)
  const events: NewEvent[] = []
  for (const { monitor, staleness } of found)
    if (staleness) events.push(...(await writeStaleness(tx, monitor, staleness)))
  return [...events, ...(await serviceStalenessEvents(tx, services, before))]
}

/** Marks a monitor as stale, or as known again. Stale time does not count towards uptime. Returns the new events. */
async function writeStaleness(tx: Context, monitor: Monitor, staleness: StalenessChange): Promise<NewEvent[]> {
  const { since } = staleness
  const unknownSince = staleness.kind === 'BEGAN' ? since : null
  await tx.db.monitor.update({ where: { id: monitor.id }, data: { unknownSince } })
  if (staleness.kind === 'BEGAN') {
    // Days of a group close without waiting for results, so the stale days may already be closed.
    if (monitor.kind === 'GROUP') await deleteClosedDays(tx, monitor, since)
    return [{ ...monitorEvent('MONITOR_UNKNOWN', monitor), since }]
  }
  const gap = { monitorId: monitor.id, startedAt: since, endedAt: staleness.at }
  // The result that ended the staleness may have written the same gap already.
  if (since < staleness.at) await tx.db.monitorGap.createMany({ data: gap, skipDuplicates: true })
  await deleteClosedDays(tx, monitor, since)
  return [{ ...monitorEvent('MONITOR_KNOWN', monitor), since: staleness.at }]
}

/** Returns the ids of services whose state is unknown. */
async function staleServices({ db }: Context, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const services = await readServices(db, ids)
  return new Set(services.filter(knowsNothing).map(({ id }) => id))
}

/** Returns events for services that became stale or known. @param before the ids of the services that were stale. */
async function serviceStalenessEvents(
  { db }: Context,
  ids: readonly string[],
  before: ReadonlySet<string>,
): Promise<NewEvent[]> {
  const services = await readServices(db, ids)
  return services
    .filter((service) => before.has(service.id) !== knowsNothing(service))
    .map((service) => stalenessEvent(service))
}

async function readServices(db: Database, ids: readonly string[]) {
  if (ids.length === 0) return []
  return db.service.findMany({
    where: { id: { in: [...ids] } },
    select: { id: true, name: true, ...statusCausesSelect },
    orderBy: { position: 'asc' },
  })
}

/** A parent with its name. */
export interface NamedParent extends Pick<Monitor, 'id' | 'name' | 'state' | 'stateSince' | 'blockedSince'> {}

const listFormat = lazily(() => new Intl.ListFormat('en'))

/** Returns a sentence that explains why a monitor is stale. */
export function stalenessReason(
  {
    agreement,
    parents,
    members,
  }: Pick<Monitor, 'agreement'> & {
    readonly parents: readonly NamedParent[]
    /** The members of a group; null: it is not a group. */
    readonly members: readonly Pick<GroupMember, 'name' | 'state' | 'unknownSince'>[] | null
  },
  watches: readonly Pick<Watch, 'lastKnownAt' | 'unknownSince' | 'lastMessage'>[],
  schedule: Schedule,
  now: Date,
): string {
  const failed = parents.filter(isUnavailable).map(({ name }) => name)
  if (failed.length > 0)
    return `It depends on ${listFormat().format(failed)}, which ${failed.length === 1 ? 'is' : 'are'} not available.`
  if (members !== null) return unknownGroupReason(members)
  const fresh = watches.filter(
    ({ lastKnownAt }) => lastKnownAt && +now - +lastKnownAt <= staleAfterMs(schedule, lastKnownAt),
  ).length
  const needed = regionsNeeded(agreement)
  if (fresh > 0 && fresh < needed) return `Only ${fresh} of the ${needed} required regions report.`
  const failing = watches.find(({ unknownSince }) => unknownSince !== null)
  if (failing) return `Its probes have no result: ${failing.lastMessage}`
  return watches.some(({ lastKnownAt }) => lastKnownAt !== null)
    ? 'No worker probes it.'
    : 'It has not been probed yet.'
}

/** Logs how many monitors of an organization became stale, with the reason of the first, and how many became known. */
export function logStaleness(
  { log }: Pick<Context, 'log'>,
  organization: string,
  reconciled: readonly { readonly staleness: StalenessChange | null; readonly reason: string }[],
): void {
  const of = (kind: StalenessChange['kind']) => reconciled.filter(({ staleness }) => staleness?.kind === kind)
  const [began, ended] = [of('BEGAN'), of('ENDED')]
  const [first] = began
  if (first) {
    const details = { organization, monitors: began.length, since: first.staleness?.since, reason: first.reason }
    log.warn(details, 'monitoring: monitors became stale')
  }
  if (ended.length > 0) log.info({ organization, monitors: ended.length }, 'monitoring: monitors are known again')
}
