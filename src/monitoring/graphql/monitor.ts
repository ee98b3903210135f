import type { Monitor as MonitorRow, Watch } from '../../generated/prisma/client.ts'
import { MonitorKind, MonitorState, PausedBy, ProbeOutcome } from '../../generated/prisma/enums.ts'
import { rows, text } from '../../graphql/document/cost.ts'
import { lastProbed } from '../monitor/monitor-queries.ts'
import { MAX_PARENTS } from '../state/dependency.ts'
import { parentsSelect } from '../state/dependency-store.ts'
import { stalenessReason } from '../state/staleness-change.ts'
import { scheduleOf } from '../watch/staleness.ts'
import { builder } from './builder.ts'
import { membersOf } from './group.ts'
import { organizationOf } from './uptime.ts'

const NEXT_PROBE =
  'When the next probe is due. For a heartbeat, when it is late; null until the first heartbeat arrives.'

const MonitorRegion = builder.objectRef<Watch>('MonitorRegion').implement({
  description: 'A monitor as seen from one region.',
  fields: (t) => ({
    region: t.exposeString('region', {
      description: 'The region. *: probed once, because the result is the same everywhere.',
    }),
    state: t.expose('state', { type: MonitorState, description: 'The state as seen from this region.' }),
    stateSince: t.expose('stateSince', { type: 'DateTime', description: 'When the state began.' }),
    lastProbedAt: t.expose('lastProbedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last probed; null if it never was.',
    }),
    lastKnownAt: t.expose('lastKnownAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time of the last known result.',
    }),
    lastOutcome: t.expose('lastOutcome', {
      type: ProbeOutcome,
      nullable: true,
      description: 'The outcome of the last probe. Null: not probed yet.',
    }),
    lastMessage: t.exposeString('lastMessage', {
      extensions: text(500),
      description: 'The message of the last probe.',
    }),
    lastLatencyMs: t.exposeInt('lastLatencyMs', {
      nullable: true,
      description: 'The last response time in milliseconds; null: it could not be measured.',
    }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the oldest run of a heartbeat’s job started that has not ended. Null: the job is not running, or does not report starts.',
    }),
    nextProbeAt: t.expose('dueAt', {
      type: 'DateTime',
      nullable: true,
      description: NEXT_PROBE,
    }),
  }),
})

/** The maximum number of regions of a monitor. */
const MAX_REGIONS = 20

const MonitorParent = builder.objectRef<Pick<MonitorRow, 'id' | 'name' | 'state'>>('MonitorParent').implement({
  description: 'A monitor that another one depends on.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The monitor’s id.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    state: t.expose('state', { type: MonitorState, description: 'Its state, from the results of all regions.' }),
  }),
})

/** The newest probe result from any region. */
const LastProbeResult = builder.objectRef<Watch>('LastProbeResult').implement({
  description: 'A monitor’s newest probe result.',
  fields: (t) => ({
    at: t.expose('lastProbedAt', { type: 'DateTime', nullable: true, description: 'When the probe began.' }),
    region: t.exposeString('region', {
      description: 'The region that probed; `*` if the result is the same everywhere.',
    }),
    outcome: t.expose('lastOutcome', { type: ProbeOutcome, nullable: true, description: 'The outcome of the probe.' }),
    message: t.exposeString('lastMessage', { extensions: text(500) }),
    latencyMs: t.exposeInt('lastLatencyMs', {
      nullable: true,
      description: 'The response time in milliseconds; null: it could not be measured.',
    }),
  }),
})

/** A monitor, for its organization and the operator. */
export const Monitor = builder.prismaNode('Monitor', {
  id: { field: 'id' },
  nullable: true,
  description: 'A monitor, which probes a target at an interval. Visible to its organization only.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    kind: t.expose('kind', { type: MonitorKind, description: 'The kind of its probe.' }),
    service: t.relation('service', { nullable: true, description: 'The service whose status it affects.' }),
    state: t.expose('state', { type: MonitorState, description: 'Its state, from the results of all regions.' }),
    stateSince: t.expose('stateSince', { type: 'DateTime', description: 'When the state began.' }),
    stateCause: t.string({
      nullable: true,
      extensions: text(500),
      description:
        'The cause of its state: the message of the first probe with this result, or that it is unstable. Null while it is up.',
      select: { intervals: { where: { endedAt: null }, select: { cause: true }, take: 1 } },
      resolve: ({ intervals }) => intervals[0]?.cause || null,
    }),
    unknownSince: t.expose('unknownSince', {
      type: 'DateTime',
      nullable: true,
      description:
        'When its state became unknown: while it is not probed, its probes are inconclusive, fewer regions report than must agree, a monitor that it depends on is down, or the states of too many members of a group are unknown. `state` is then the last known one. Null: its state is known, or it is paused.',
    }),
    unknownReason: t.string({
      nullable: true,
      extensions: text(500),
      description: 'Why its state is unknown; null while `unknownSince` is null.',
      select: {
        ...{ watches: true, unknownSince: true, agreement: true, kind: true, options: true, organizationId: true },
        dependencies: parentsSelect,
      },
      resolve: async (monitor, _args, ctx) => {
        if (monitor.unknownSince === null) return null
        const { tier } = await organizationOf(ctx, monitor.organizationId)
        const parents = monitor.dependencies.map(({ parent }) => parent)
        const members = monitor.kind === 'GROUP' ? await membersOf(ctx, monitor) : null
        return stalenessReason({ ...monitor, parents, members }, monitor.watches, scheduleOf(monitor, tier), ctx.now())
      },
    }),
    dependsOn: t.field({
      type: [MonitorParent],
      extensions: rows(MAX_PARENTS),
      description:
        'The monitors that it depends on. While one of them is down, its state is unknown, and it opens no incidents or alerts.',
      select: { dependencies: parentsSelect },
      resolve: ({ dependencies }) => dependencies.map(({ parent }) => parent),
    }),
    blockedSince: t.expose('blockedSince', {
      type: 'DateTime',
      nullable: true,
      description: 'When a monitor that it depends on went down. Null: all are up.',
    }),
    pausedBy: t.expose('pausedBy', {
      type: PausedBy,
      nullable: true,
      description: 'Who paused it. Null: it is not paused.',
    }),
    lastResult: t.field({
      type: LastProbeResult,
      nullable: true,
      description: 'The newest probe result; null if none exists yet.',
      select: { watches: true },
      resolve: ({ watches }) => lastProbed(watches),
    }),
    regions: t.field({
      type: [MonitorRegion],
      extensions: rows(MAX_REGIONS),
      description: 'The regions that probe it; empty while it is paused.',
      select: { watches: true },
      resolve: ({ watches }) => watches.sort((one, other) => one.region.localeCompare(other.region)),
    }),
    version: t.exposeInt('version', { description: 'The version, incremented by every edit.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

// The settings of a monitor.
builder.prismaObjectFields('Monitor', (t) => ({
  intervalSeconds: t.exposeInt('intervalSeconds', {
    description:
      'The probe interval, in seconds. For a heartbeat, how often its job reports, unless its options have a schedule.',
  }),
  effectiveIntervalSeconds: t.int({
    description: 'The effective interval, which respects the minimum of the tier.',
    resolve: async (monitor, _args, ctx) => {
      const { tier } = await organizationOf(ctx, monitor.organizationId)
      return scheduleOf(monitor, tier).intervalSeconds
    },
  }),
  timeoutMs: t.exposeInt('timeoutMs', { description: 'The timeout of a probe, in milliseconds.' }),
  failureThreshold: t.exposeInt('failureThreshold', {
    description: 'The number of consecutive failures that make it DOWN.',
  }),
  recoveryThreshold: t.exposeInt('recoveryThreshold', {
    description: 'The number of consecutive successes that end an outage.',
  }),
  agreement: t.exposeInt('agreement', {
    nullable: true,
    description: 'The number of regions that must find it down. Null: a strict majority of the reporting regions.',
  }),
}))
