import type { Context } from '../core/context.ts'
import { newId } from '../core/id.ts'
import { DAY, HOUR, MINUTE } from '../core/time.ts'
import type { ChangeContext } from '../event-log/change.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import type { MonitorState, ServiceStatus } from '../generated/prisma/enums.ts'
import type { GroupOptions } from '../monitoring/group/group.ts'
import { groupCause } from '../monitoring/group/group-cause.ts'
import { judgeGroup } from '../monitoring/group/judge-group.ts'
import type { PastState } from '../monitoring/monitor/monitor-with-history.ts'
import { createWithHistory, retargetByName } from '../monitoring/monitor/monitor-with-history.ts'
import { kindRules } from '../monitoring/monitor/probe-kinds.ts'
import { watchId } from '../monitoring/monitor/watches.ts'
import { BUCKETS, bucketOf } from '../monitoring/uptime/histogram.ts'
import type { ServiceName } from './fixtures.ts'
import * as fixtures from './fixtures.ts'

/** How far back the demo has response times, in milliseconds. */
const LATENCY_HISTORY_MS = 8 * DAY

/** A gap without monitoring, such as a server move: days before the seed, and its duration. */
const MONITORING_GAP = { daysAgo: 52, hours: 5 }

/**
 * Creates a monitor for each monitored service, and a group of some of them, with a history that matches the fixtures'
 * incidents. Writes the history to the database, because three months of probes cannot run in a second. The monitors
 * probe this service itself, so that their results are real and no other host gets requests.
 * @param ctx the owner's context, at the time of creation
 */
export async function seedMonitors(
  ctx: ChangeContext,
  organizationId: string,
  ids: ReadonlyMap<string, string>,
  now: Date,
): Promise<void> {
  const { REGION } = ctx.config
  const options = healthProbeOptions(ctx)
  const createdAt = ctx.now()
  const monitorIds = new Map<ServiceName, string>()
  for (const { service, latencyMs } of fixtures.monitoredServices) {
    const id = newId('Monitor')
    monitorIds.set(service, id)
    const intervals = stateIntervalsOf(service, createdAt, now)
    const state = intervals.at(-1)?.state ?? 'UP'
    const stateSince = intervals.at(-1)?.startedAt ?? createdAt
    const moved = new Date(now.getTime() - MONITORING_GAP.daysAgo * DAY)
    const settings = { intervalSeconds: 60, timeoutMs: 10_000, failureThreshold: 2, recoveryThreshold: 1 }
    const watch = { id: watchId(id, REGION), region: REGION, state, stateSince, dueAt: now, lastKnownAt: now }
    await createWithHistory(ctx, organizationId, {
      monitor: {
        ...{ id, serviceId: ids.get(service) ?? null, name: service, kind: 'HTTP', options },
        ...{ ...settings, state, stateSince, createdAt },
      },
      watch: { ...watch, lastProbedAt: now, lastOutcome: 'UP', lastLatencyMs: latencyMs },
      states: intervals,
      gap: { startedAt: moved, endedAt: new Date(moved.getTime() + MONITORING_GAP.hours * HOUR) },
      hours: hourlyLatencies(latencyMs, now),
    })
  }
  await seedGroup(ctx, organizationId, monitorIds, now)
}

/** Creates the group of monitors, with the history that follows from that of its members. */
async function seedGroup(
  ctx: ChangeContext,
  organizationId: string,
  monitorIds: ReadonlyMap<ServiceName, string>,
  now: Date,
): Promise<void> {
  const { name, services } = fixtures.monitorGroup
  const id = newId('Monitor')
  const createdAt = ctx.now()
  const rule = { require: 'ALL' } as const
  const intervals = groupIntervalsOf(services, rule, createdAt, now)
  const state = intervals.at(-1)?.state ?? 'UP'
  const stateSince = intervals.at(-1)?.startedAt ?? createdAt
  const options = { ...rule, monitorIds: services.flatMap((service) => monitorIds.get(service) ?? []) }
  const groupOptions = kindRules.GROUP.options.parse(options) as Prisma.InputJsonObject
  const settings = { intervalSeconds: 60, timeoutMs: 10_000, failureThreshold: 1, recoveryThreshold: 1 }
  const moved = new Date(now.getTime() - MONITORING_GAP.daysAgo * DAY)
  await createWithHistory(ctx, organizationId, {
    monitor: {
      ...{ id, name, kind: 'GROUP', options: groupOptions },
      ...{ ...settings, state, stateSince, createdAt },
    },
    states: intervals,
    gap: { startedAt: moved, endedAt: new Date(moved.getTime() + MONITORING_GAP.hours * HOUR) },
  })
}

/** Returns the states of a group in order of time, judged from its members whenever the state of one changes. */
function groupIntervalsOf(
  services: readonly ServiceName[],
  rule: Pick<GroupOptions, 'require' | 'count'>,
  createdAt: Date,
  now: Date,
): PastState[] {
  const histories = services.map((service) => ({ service, intervals: stateIntervalsOf(service, createdAt, now) }))
  const times = histories.flatMap(({ intervals }) => intervals.map(({ startedAt }) => startedAt.getTime()))
  const starts: { at: Date; state: MonitorState; cause: string }[] = []
  for (const time of [...new Set(times)].sort((one, other) => one - other)) {
    const at = new Date(time)
    const members = histories.flatMap(({ service, intervals }) => {
      const current = intervals.findLast(({ startedAt }) => startedAt <= at)
      const known = { unknownSince: null, knownSince: null }
      return current
        ? [{ id: service, name: service, state: current.state, stateSince: current.startedAt, ...known }]
        : []
    })
    const standing = { state: 'PENDING', stateSince: createdAt, unknownSince: null, earliest: createdAt } as const
    const verdict = judgeGroup(members, rule, standing, at)
    const state = verdict.kind === 'KNOWN' ? verdict.state : 'PENDING'
    const cause = state === 'DOWN' || state === 'DEGRADED' ? groupCause(members, rule, state) : ''
    if (starts.at(-1)?.state !== state) starts.push({ at, state, cause })
  }
  return intervalsBetween(starts)
}

/** Returns states as intervals, each to the start of the next. */
const intervalsBetween = (
  starts: readonly { readonly at: Date; readonly state: MonitorState; readonly cause: string }[],
): PastState[] =>
  starts.map(({ at, state, cause }, index) => ({
    startedAt: at,
    endedAt: starts[index + 1]?.at ?? null,
    state,
    cause,
  }))

/** Points the monitors of all demos at the current address of this service, which may have changed. */
export async function retargetMonitors(ctx: Context): Promise<void> {
  await retargetByName(ctx, {
    names: fixtures.monitoredServices.map(({ service }) => service),
    urlEnd: HEALTH_PATH,
    options: healthProbeOptions(ctx),
  })
}

const HEALTH_PATH = '/healthz'

function healthProbeOptions({ config: { HOST, PORT } }: Context): Prisma.InputJsonObject {
  const host = /^(0\.0\.0\.0|::)$/.test(HOST) ? '127.0.0.1' : HOST.includes(':') ? `[${HOST}]` : HOST
  return kindRules.HTTP.options.parse({ url: `http://${host}:${PORT}${HEALTH_PATH}` }) as Prisma.InputJsonObject
}

/** Returns the states of a service's monitor in order of time, derived from the fixtures' incidents. */
function stateIntervalsOf(service: ServiceName, createdAt: Date, now: Date): PastState[] {
  const starts: { at: Date; state: MonitorState; cause: string }[] = [
    { at: createdAt, state: 'PENDING', cause: '' },
    { at: new Date(createdAt.getTime() + MINUTE), state: 'UP', cause: '200 OK' },
  ]
  for (const { begun, at, status } of serviceUpdatesOf(service, now)) {
    const state = stateByStatus[status]
    const last = starts.at(-1)
    if (last === undefined || state === last.state) continue
    // The monitor detects a failure before the first incident update.
    const from = last.state === 'UP' ? begun : at
    if (from > last.at && from < now) starts.push({ at: from, state, cause: causeByStatus[status] })
  }
  return intervalsBetween(starts)
}

/** Returns the incident updates about a service in order of time, with the start of their incident. */
function serviceUpdatesOf(service: ServiceName, now: Date) {
  const incidents = fixtures.pastIncidents.toSorted((one, other) => other.daysAgo - one.daysAgo)
  return incidents.flatMap(({ updates, daysAgo, time }) => {
    const begun = fixtures.utcTimeOn(now, -daysAgo, time)
    return updates.flatMap(({ minute, status: incidentStatus, services = {} }) => {
      const status = services[service] ?? (incidentStatus === 'RESOLVED' ? 'OPERATIONAL' : undefined)
      return status ? [{ begun, at: new Date(begun.getTime() + minute * MINUTE), status }] : []
    })
  })
}

const stateByStatus = {
  OPERATIONAL: 'UP',
  DEGRADED_PERFORMANCE: 'DEGRADED',
  PARTIAL_OUTAGE: 'DEGRADED',
  MAJOR_OUTAGE: 'DOWN',
} as const satisfies Record<Exclude<ServiceStatus, 'UNDER_MAINTENANCE'>, MonitorState>

const causeByStatus = {
  OPERATIONAL: '200 OK',
  DEGRADED_PERFORMANCE: 'Responded after 4.2 s.',
  PARTIAL_OUTAGE: 'Responded with 200 but without the expected text.',
  MAJOR_OUTAGE: 'No connection within 10 s.',
} as const satisfies Record<keyof typeof stateByStatus, string>

/**
 * Returns the latency histogram of each of the last hours: a daily rhythm around the usual latency, with some slow
 * answers.
 */
function hourlyLatencies(latencyMs: number, now: Date) {
  const last = Math.floor(now.getTime() / HOUR) * HOUR
  return Array.from({ length: LATENCY_HISTORY_MS / HOUR }, (_, ago) => {
    const hour = new Date(last - ago * HOUR)
    const busy = 1 + 0.35 * Math.sin(((hour.getUTCHours() - 9) / 24) * 2 * Math.PI)
    const counts = new Array<number>(BUCKETS).fill(0)
    const checks = ago === 0 ? now.getUTCMinutes() : 60
    for (let check = 0; check < checks; check++) {
      // Spreads values evenly, and identically for every seed.
      const spread = ((check * 37 + ago * 11) % 60) / 60
      const bucket = bucketOf(latencyMs * busy * (0.8 + 0.5 * spread + (spread > 0.94 ? 1.5 : 0)))
      counts[bucket] = (counts[bucket] ?? 0) + 1
    }
    return { hour, up: checks, degraded: 0, down: 0, unknown: 0, latencies: counts }
  })
}
