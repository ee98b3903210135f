import type { Context } from '../context.ts'
import { change } from '../eventlog/change.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import type { MonitorState, ServiceStatus } from '../generated/prisma/enums.ts'
import { newId } from '../id.ts'
import { monitorEvent } from '../monitoring/guard.ts'
import { BUCKETS, bucketOf } from '../monitoring/histogram.ts'
import { kindRules } from '../monitoring/probes.ts'
import { watchId } from '../monitoring/watch.ts'
import { DAY, HOUR, MINUTE } from '../time.ts'
import type { ServiceName } from './story.ts'
import * as story from './story.ts'

/** For how long back the demo has response times. */
const TIMED = 8 * DAY

/** When nobody watched: the time of a move to other machines, so many days before the story is told. */
const MOVE = { daysAgo: 52, hours: 5 }

/**
 * Adds a monitor to each service that the story has watched, with the past that the story's incidents give it. The past is
 * written as it is, for probes of three months cannot be run in a second. What is checked from now on is this service
 * itself, so that it is true and asks nobody else.
 * @param ctx the owner's, at the time when the monitors are added.
 */
export async function addMonitors(
  ctx: Context,
  organizationId: string,
  ids: ReadonlyMap<string, string>,
  now: Date,
): Promise<void> {
  const { REGION } = ctx.config
  const options = ownHealth(ctx)
  const createdAt = ctx.now()
  for (const { service, latencyMs } of story.watchedServices) {
    const id = newId('Monitor')
    const turns = turnsOf(service, createdAt, now)
    const state = turns.at(-1)?.state ?? 'UP'
    const stateSince = turns.at(-1)?.startedAt ?? createdAt
    const moved = new Date(now.getTime() - MOVE.daysAgo * DAY)
    const pace = { intervalSeconds: 60, timeoutMs: 10_000, failureThreshold: 2, recoveryThreshold: 1 }
    const watch = { id: watchId(id, REGION), region: REGION, state, stateSince, dueAt: now, lastKnownAt: now }
    await change(ctx, organizationId, async ({ db }) => {
      const monitor = await db.monitor.create({
        data: {
          ...{ id, organizationId, serviceId: ids.get(service) ?? null, name: service, kind: 'HTTP', options },
          ...{ ...pace, state, stateSince, createdAt },
          watches: { create: { ...watch, lastCheckedAt: now, lastOutcome: 'UP', lastLatencyMs: latencyMs } },
          intervals: { createMany: { data: turns } },
          gaps: { create: { startedAt: moved, endedAt: new Date(moved.getTime() + MOVE.hours * HOUR) } },
          hours: { createMany: { data: hoursOf(latencyMs, now) } },
        },
      })
      return [undefined, monitorEvent('MONITOR_CREATED', monitor)]
    })
  }
}

/** Has the monitors of all demos there were watch this service where it listens now: it may have been elsewhere before. */
export async function aimMonitors(ctx: Context): Promise<void> {
  const name = { in: story.watchedServices.map(({ service }) => service) }
  const options = { path: ['url'], string_ends_with: HEALTH }
  await ctx.db.monitor.updateMany({ where: { kind: 'HTTP', name, options }, data: { options: ownHealth(ctx) } })
}

const HEALTH = '/healthz'

function ownHealth({ config: { HOST, PORT } }: Context): Prisma.InputJsonObject {
  const host = /^(0\.0\.0\.0|::)$/.test(HOST) ? '127.0.0.1' : HOST.includes(':') ? `[${HOST}]` : HOST
  return kindRules.HTTP.options.parse({ url: `http://${host}:${PORT}${HEALTH}` }) as Prisma.InputJsonObject
}

interface Turn {
  readonly startedAt: Date
  readonly endedAt: Date | null
  readonly state: MonitorState
  readonly cause: string
}

/** The states of a service's monitor, one after another, as the incidents of the story went. */
function turnsOf(service: ServiceName, createdAt: Date, now: Date): Turn[] {
  const starts: { at: Date; state: MonitorState; cause: string }[] = [
    { at: createdAt, state: 'PENDING', cause: '' },
    { at: new Date(createdAt.getTime() + MINUTE), state: 'UP', cause: '200 OK' },
  ]
  for (const { begun, at, status } of tellingsOf(service, now)) {
    const state = stateOf[status]
    const last = starts.at(-1)
    if (last === undefined || state === last.state) continue
    // The monitor saw it before people told of it.
    const from = last.state === 'UP' ? begun : at
    if (from > last.at && from < now) starts.push({ at: from, state, cause: causes[status] })
  }
  return starts.map(({ at, state, cause }, index) => ({
    startedAt: at,
    endedAt: starts[index + 1]?.at ?? null,
    state,
    cause,
  }))
}

/** What the story's incidents say of a service, in order of time; each with when its incident had begun. */
function tellingsOf(service: ServiceName, now: Date) {
  const incidents = story.pastIncidents.toSorted((one, other) => other.daysAgo - one.daysAgo)
  return incidents.flatMap(({ entries, daysAgo, time }) => {
    const begun = story.momentOf(now, -daysAgo, time)
    return entries.flatMap(({ minute, status: stands, services = {} }) => {
      const status = services[service] ?? (stands === 'RESOLVED' ? 'OPERATIONAL' : undefined)
      return status ? [{ begun, at: new Date(begun.getTime() + minute * MINUTE), status }] : []
    })
  })
}

const stateOf = {
  OPERATIONAL: 'UP',
  DEGRADED_PERFORMANCE: 'DEGRADED',
  PARTIAL_OUTAGE: 'DEGRADED',
  MAJOR_OUTAGE: 'DOWN',
} as const satisfies Record<Exclude<ServiceStatus, 'UNDER_MAINTENANCE'>, MonitorState>

const causes = {
  OPERATIONAL: '200 OK',
  DEGRADED_PERFORMANCE: 'It answered after 4.2 s.',
  PARTIAL_OUTAGE: 'It answered 200, without the text that was expected.',
  MAJOR_OUTAGE: 'No connection within 10 s.',
} as const satisfies Record<keyof typeof stateOf, string>

/** What was counted in each of the last hours: a day's rhythm around the usual latency, and now and then a slow answer. */
function hoursOf(latencyMs: number, now: Date) {
  const last = Math.floor(now.getTime() / HOUR) * HOUR
  return Array.from({ length: TIMED / HOUR }, (_, ago) => {
    const hour = new Date(last - ago * HOUR)
    const busy = 1 + 0.35 * Math.sin(((hour.getUTCHours() - 9) / 24) * 2 * Math.PI)
    const counts = new Array<number>(BUCKETS).fill(0)
    const checks = ago === 0 ? now.getUTCMinutes() : 60
    for (let check = 0; check < checks; check++) {
      // Spread evenly, and the same at each telling.
      const spread = ((check * 37 + ago * 11) % 60) / 60
      const bucket = bucketOf(latencyMs * busy * (0.8 + 0.5 * spread + (spread > 0.94 ? 1.5 : 0)))
      counts[bucket] = (counts[bucket] ?? 0) + 1
    }
    return { hour, up: checks, degraded: 0, down: 0, unknown: 0, latencies: counts }
  })
}
