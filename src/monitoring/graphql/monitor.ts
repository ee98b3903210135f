import type { Monitor as MonitorRow, Watch } from '../../generated/prisma/client.ts'
import { MonitorKind, MonitorState, PausedBy, ProbeOutcome } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { rows, text } from '../../graphql/cost.ts'
import { MAX_PARENTS } from '../dependency.ts'
import { parentsSelect } from '../dependency-store.ts'
import { scheduleOf } from '../staleness.ts'
import { stalenessReason } from '../staleness-change.ts'
import { organizationOf } from './uptime.ts'

const MonitorRegion = builder.objectRef<Watch>('MonitorRegion').implement({
  description: 'A monitor as seen from one region.',
  fields: (t) => ({
    region: t.exposeString('region', { description: 'The region; *: probed once, because it is the same everywhere.' }),
    state: t.expose('state', { type: MonitorState, description: 'The state as seen from this region.' }),
    stateSince: t.expose('stateSince', { type: 'DateTime', description: 'When the state began.' }),
    lastCheckedAt: t.expose('lastCheckedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last probed; null: not yet.',
    }),
    lastKnownAt: t.expose('lastKnownAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last known result was found.',
    }),
    lastOutcome: t.expose('lastOutcome', {
      type: ProbeOutcome,
      nullable: true,
      description: 'The outcome of the last probe; null: there was none.',
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
      description: 'When the job of a heartbeat reported its start; null: it has ended since, or never reported one.',
    }),
    nextCheckAt: t.expose('dueAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next probe is due; for a heartbeat, when it is late. Null: no heartbeat has arrived yet.',
    }),
  }),
})

/** The maximum number of regions of a monitor. */
const MAX_REGIONS = 20

const MonitorParent = builder.objectRef<Pick<MonitorRow, 'id' | 'name' | 'state'>>('MonitorParent').implement({
  description: 'A monitor on which another depends.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The monitor’s id.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    state: t.expose('state', { type: MonitorState, description: 'Its state, from the results of all regions.' }),
  }),
})

/** The newest probe result from any region. */
const LastCheck = builder.objectRef<Watch>('LastCheck').implement({
  description: 'A monitor’s newest probe result.',
  fields: (t) => ({
    at: t.expose('lastCheckedAt', { type: 'DateTime', nullable: true, description: 'When the probe began.' }),
    region: t.exposeString('region', { description: 'The region that probed; *: any.' }),
    outcome: t.expose('lastOutcome', { type: ProbeOutcome, nullable: true, description: 'What the probe found.' }),
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
  description: 'A monitor, which probes a target automatically. Visible to its organization only.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    kind: t.expose('kind', { type: MonitorKind, description: 'What kind of probe it runs.' }),
    service: t.relation('service', { nullable: true, description: 'The service whose status it affects.' }),
    state: t.expose('state', { type: MonitorState, description: 'Its state, from the results of all regions.' }),
    stateSince: t.expose('stateSince', { type: 'DateTime', description: 'When the state began.' }),
    stateCause: t.string({
      nullable: true,
      extensions: text(500),
      description:
        'Why it is in this state: the message of the first probe that found it so, or that it is unstable. Null while it is up.',
      select: { intervals: { where: { endedAt: null }, select: { cause: true }, take: 1 } },
      resolve: ({ intervals }) => intervals[0]?.cause || null,
    }),
    unknownSince: t.expose('unknownSince', {
      type: 'DateTime',
      nullable: true,
      description:
        'Since when it is stale: it is not probed, its probes have no result, fewer regions report than must agree, or a monitor that it depends on is down. Its state is the last known one. Null: its state is known, or it is paused.',
    }),
    unknownReason: t.string({
      nullable: true,
      extensions: text(500),
      description: 'Why it is stale; null while `unknownSince` is null.',
      select: { watches: true, unknownSince: true, agreement: true, dependencies: parentsSelect },
      resolve: async (monitor, _args, ctx) => {
        if (monitor.unknownSince === null) return null
        const { tier } = await organizationOf(ctx, monitor.organizationId)
        const parents = monitor.dependencies.map(({ parent }) => parent)
        return stalenessReason({ ...monitor, parents }, monitor.watches, scheduleOf(monitor, tier), ctx.now())
      },
    }),
    dependsOn: t.field({
      type: [MonitorParent],
      extensions: rows(MAX_PARENTS),
      description:
        'The monitors that it depends on: while one is down, it is stale, and opens no incidents and no alerts.',
      select: { dependencies: parentsSelect },
      resolve: ({ dependencies }) => dependencies.map(({ parent }) => parent),
    }),
    blockedSince: t.expose('blockedSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when a monitor that it depends on is down; null: none is.',
    }),
    pausedBy: t.expose('pausedBy', { type: PausedBy, nullable: true, description: 'Null: it is not paused.' }),
    intervalSeconds: t.exposeInt('intervalSeconds', {
      description:
        'How often it is probed; for a heartbeat, how often its job reports, which a schedule in its options replaces.',
    }),
    effectiveIntervalSeconds: t.int({
      description: 'The interval in effect: not shorter than the tier allows.',
      resolve: async (monitor, _args, ctx) => {
        const { tier } = await organizationOf(ctx, monitor.organizationId)
        return scheduleOf(monitor, tier).intervalSeconds
      },
    }),
    timeoutMs: t.exposeInt('timeoutMs', { description: 'How long a probe may take, in milliseconds.' }),
    failureThreshold: t.exposeInt('failureThreshold', { description: 'How many consecutive failures make it DOWN.' }),
    recoveryThreshold: t.exposeInt('recoveryThreshold', {
      description: 'How many consecutive successes end an outage.',
    }),
    agreement: t.exposeInt('agreement', {
      nullable: true,
      description: 'How many regions must find it down; null: a strict majority of the regions that report.',
    }),
    lastCheck: t.field({
      type: LastCheck,
      nullable: true,
      description: 'The newest probe result; null: there is none yet.',
      select: { watches: true },
      resolve: ({ watches }) =>
        watches
          .filter(({ lastCheckedAt }) => lastCheckedAt !== null)
          .sort((one, other) => checkedAt(other) - checkedAt(one))[0],
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

const checkedAt = ({ lastCheckedAt }: Watch) => lastCheckedAt?.getTime() ?? 0
