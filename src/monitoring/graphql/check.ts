import type { ProbeResult } from '../../generated/prisma/client.ts'
import { ProbeOutcome } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { connectionOfNode, pageArgs } from '../../graphql/connection.ts'
import { orderOf, pageOf } from '../../graphql/keyset.ts'
import type { Phases } from '../../network/outbound.ts'
import type { Detail } from '../finding.ts'

const newestFirst = orderOf('ProbeResult', { at: ['time', 'desc'], region: ['text', 'asc'] })

const PhasesRef = builder.objectRef<Phases>('CheckPhases').implement({
  description: 'How long each phase of a check took, in milliseconds; null for one that did not come.',
  fields: (t) => ({
    dns: t.exposeFloat('dns', { nullable: true, description: 'Resolving the name.' }),
    connect: t.exposeFloat('connect', { nullable: true, description: 'Connecting.' }),
    tls: t.exposeFloat('tls', { nullable: true, description: 'The TLS handshake.' }),
    firstByte: t.exposeFloat('firstByte', { nullable: true, description: 'Waiting for the first byte of the answer.' }),
    total: t.exposeFloat('total', { description: 'All of it.' }),
  }),
})

/** What a check tells beside its outcome. */
export const CheckDetail = builder.objectRef<Detail>('CheckDetail').implement({
  description: 'What a check tells beside its outcome; which of it depends on the kind.',
  fields: (t) => ({
    phases: t.field({
      type: PhasesRef,
      nullable: true,
      description: 'How long each phase took.',
      resolve: ({ phases }) => phases,
    }),
    address: t.exposeString('address', { nullable: true, description: 'The address that was reached.' }),
    status: t.exposeInt('status', { nullable: true, description: 'The status of an HTTP answer.' }),
    certificateEndsAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the server’s TLS certificate expires.',
      resolve: ({ certificateEndsAt }) => (certificateEndsAt === undefined ? null : new Date(certificateEndsAt)),
    }),
    answers: t.exposeStringList('answers', { nullable: true, description: 'What a DNS query was answered.' }),
    listedOn: t.exposeStringList('listedOn', { nullable: true, description: 'Blacklists, those acknowledged apart.' }),
    failedLists: t.exposeStringList('failedLists', {
      nullable: true,
      description: 'Blacklists that gave no usable answer.',
    }),
    said: t.exposeString('said', {
      nullable: true,
      description: 'The first line of what a job sent with its heartbeat.',
    }),
  }),
})

const CheckRef = builder.interfaceRef<ProbeResult>('Check').implement({
  description: 'What one check of a monitor found.',
  fields: (t) => ({
    cursor: t.string({ resolve: newestFirst.cursorOf, description: 'Its place among the monitor’s `results`.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When the check began.' }),
    region: t.exposeString('region', { description: 'From where; *: it looks the same from everywhere.' }),
    outcome: t.expose('outcome', { type: ProbeOutcome, description: 'What the check found.' }),
    latencyMs: t.exposeInt('latencyMs', { nullable: true, description: 'Null when nothing could be timed.' }),
    message: t.exposeString('message', { description: 'What was wrong, or what was seen.' }),
    detail: t.field({
      type: CheckDetail,
      nullable: true,
      description: 'Measurements and findings beyond the outcome; null: none.',
      // What is kept is what a finding had.
      resolve: ({ detail }) => detail as Detail | null,
    }),
  }),
})

const MonitorCheck = builder
  .objectRef<ProbeResult>('MonitorCheck')
  .implement({ interfaces: [CheckRef], description: 'A past check of a monitor.' })

/** A check that has just ended. */
export const MonitorCheckEvent = builder.objectRef<ProbeResult>('MonitorCheckEvent').implement({
  description: 'A check of a monitor that has just ended.',
  interfaces: [CheckRef],
  fields: (t) => ({
    monitor: t.prismaField({
      type: 'Monitor',
      nullable: true,
      description: 'As it is now; null when it is gone.',
      resolve: (query, { monitorId }, _args, { db }) => db.monitor.findUnique({ ...query, where: { id: monitorId } }),
    }),
  }),
})

builder.prismaObjectField('Monitor', 'results', (t) =>
  t.field({
    type: connectionOfNode('MonitorCheck', MonitorCheck),
    description: 'What its checks found, newest first, as long as the tier keeps them.',
    args: pageArgs,
    resolve: ({ id: monitorId }, args, { db }) =>
      pageOf({
        order: newestFirst,
        args,
        where: { monitorId },
        read: (slice) => db.probeResult.findMany(slice),
        count: (query) => db.probeResult.count(query),
      }),
  }),
)
