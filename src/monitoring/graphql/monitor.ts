import type { Watch } from '../../generated/prisma/client.ts'
import { MonitorKind, MonitorState, PausedBy, ProbeOutcome } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { whySilent } from '../silence.ts'
import { rhythmOf } from '../vouching.ts'
import { organizationOf } from './uptime.ts'

const MonitorRegion = builder.objectRef<Watch>('MonitorRegion').implement({
  description: 'A monitor as it is found from one region.',
  fields: (t) => ({
    region: t.exposeString('region', { description: '*: it looks the same from everywhere, and is watched once.' }),
    state: t.expose('state', { type: MonitorState, description: 'Its state as seen from this region.' }),
    stateSince: t.expose('stateSince', { type: 'DateTime', description: 'Since when it has been in this state.' }),
    lastCheckedAt: t.expose('lastCheckedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last checked; null: not yet.',
    }),
    lastKnownAt: t.expose('lastKnownAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When something about the target was last known.',
    }),
    lastOutcome: t.expose('lastOutcome', {
      type: ProbeOutcome,
      nullable: true,
      description: 'What the last check found; null: there was none.',
    }),
    lastMessage: t.exposeString('lastMessage', { description: 'What the last check said.' }),
    lastLatencyMs: t.exposeInt('lastLatencyMs', {
      nullable: true,
      description: 'How long the last answer took, in milliseconds; null: it could not be timed.',
    }),
    nextCheckAt: t.expose('dueAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Of a heartbeat, when it is late; null: none has come yet.',
    }),
  }),
})

/** The newest check from any region. */
const LastCheck = builder.objectRef<Watch>('LastCheck').implement({
  description: 'What a monitor’s newest check found.',
  fields: (t) => ({
    at: t.expose('lastCheckedAt', { type: 'DateTime', nullable: true, description: 'When the check began.' }),
    region: t.exposeString('region', { description: 'Where the check ran; *: any region.' }),
    outcome: t.expose('lastOutcome', { type: ProbeOutcome, nullable: true, description: 'What the check found.' }),
    message: t.exposeString('lastMessage'),
    latencyMs: t.exposeInt('lastLatencyMs', {
      nullable: true,
      description: 'How long the answer took, in milliseconds; null: it could not be timed.',
    }),
  }),
})

/** A monitor, as its organization and the operator see it. */
export const Monitor = builder.prismaNode('Monitor', {
  id: { field: 'id' },
  nullable: true,
  description: 'Something that is watched by itself. For the organization only.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    kind: t.expose('kind', { type: MonitorKind, description: 'How it watches.' }),
    service: t.relation('service', { nullable: true, description: 'The service whose status it bears on.' }),
    state: t.expose('state', { type: MonitorState, description: 'Its state, agreed by all regions.' }),
    stateSince: t.expose('stateSince', { type: 'DateTime', description: 'Since when it has been in this state.' }),
    stateCause: t.string({
      nullable: true,
      description:
        'Why it is in this state, in a sentence: what the first check said that found it so, or that it is unstable. Null while it is up.',
      select: { intervals: { where: { endedAt: null }, select: { cause: true }, take: 1 } },
      resolve: ({ intervals }) => intervals[0]?.cause || null,
    }),
    unknownSince: t.expose('unknownSince', {
      type: 'DateTime',
      nullable: true,
      description:
        'Since when nothing is known of it: it is not checked, its checks find nothing out, or fewer regions report than must agree. Its state is what was last known. Null: something is known, or it is paused.',
    }),
    unknownReason: t.string({
      nullable: true,
      description: 'Why nothing is known of it, in a sentence; null while `unknownSince` is.',
      select: { watches: true, unknownSince: true, agreement: true },
      resolve: async (monitor, _args, ctx) => {
        if (monitor.unknownSince === null) return null
        const { tier } = await organizationOf(ctx, monitor.organizationId)
        return whySilent(monitor, monitor.watches, rhythmOf(monitor, tier), ctx.now())
      },
    }),
    pausedBy: t.expose('pausedBy', { type: PausedBy, nullable: true, description: 'Null: it is not paused.' }),
    intervalSeconds: t.exposeInt('intervalSeconds', {
      description: 'How often it is checked; of a heartbeat, how often its job reports.',
    }),
    effectiveIntervalSeconds: t.int({
      description: 'How often it is really checked: not more often than the tier allows.',
      resolve: async (monitor, _args, ctx) => {
        const { tier } = await organizationOf(ctx, monitor.organizationId)
        return rhythmOf(monitor, tier).intervalSeconds
      },
    }),
    timeoutMs: t.exposeInt('timeoutMs', { description: 'How long a check may take, in milliseconds.' }),
    failureThreshold: t.exposeInt('failureThreshold', { description: 'How many failures in a row make it down.' }),
    recoveryThreshold: t.exposeInt('recoveryThreshold', { description: 'How many successes in a row end that.' }),
    agreement: t.exposeInt('agreement', {
      nullable: true,
      description: 'How many regions must find it down; null: a strict majority of those that report.',
    }),
    lastCheck: t.field({
      type: LastCheck,
      nullable: true,
      description: 'Null: there was none since it is watched.',
      select: { watches: true },
      resolve: ({ watches }) =>
        watches
          .filter(({ lastCheckedAt }) => lastCheckedAt !== null)
          .sort((one, other) => checkedAt(other) - checkedAt(one))[0],
    }),
    regions: t.field({
      type: [MonitorRegion],
      description: 'Where it is watched from; nowhere while it is paused.',
      select: { watches: true },
      resolve: ({ watches }) => watches.sort((one, other) => one.region.localeCompare(other.region)),
    }),
    version: t.exposeInt('version', { description: 'Raised by every edit.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

const checkedAt = ({ lastCheckedAt }: Watch) => lastCheckedAt?.getTime() ?? 0
