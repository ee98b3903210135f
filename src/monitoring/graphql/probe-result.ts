import type { ProbeResult as StoredProbeResult } from '../../generated/prisma/client.ts'
import { ProbeOutcome } from '../../generated/prisma/enums.ts'
import { text } from '../../graphql/document/cost.ts'
import { connectionOfNode, pageArgs } from '../../graphql/list/connection.ts'
import { orderOf, pageOf } from '../../graphql/list/keyset.ts'
import type { Phases } from '../../network/outbound/outbound.ts'
import type { ProbeDetail } from '../result/probe-result.ts'
import { pageableResults } from '../result/result-queries.ts'
import { builder } from './builder.ts'

const newestFirst = orderOf('ProbeResult', { at: ['time', 'desc'], region: ['text', 'asc'] })

const PhasesRef = builder.objectRef<Phases>('ProbePhases').implement({
  description: 'The duration of each phase of a probe, in milliseconds. Null: the phase did not occur.',
  fields: (t) => ({
    dns: t.exposeFloat('dns', { nullable: true, description: 'Resolving the name.' }),
    connect: t.exposeFloat('connect', { nullable: true, description: 'Connecting.' }),
    tls: t.exposeFloat('tls', { nullable: true, description: 'The TLS handshake.' }),
    firstByte: t.exposeFloat('firstByte', {
      nullable: true,
      description: 'Waiting for the first byte of the response.',
    }),
    total: t.exposeFloat('total', { description: 'The whole probe.' }),
  }),
})

/** The measurements of a probe result. */
export const ProbeDetailRef = builder.objectRef<ProbeDetail>('ProbeDetail').implement({
  description: 'The measurements of a probe result, which depend on the kind of the monitor.',
  fields: (t) => ({
    phases: t.field({
      type: PhasesRef,
      nullable: true,
      description: 'How long each phase took.',
      resolve: ({ phases }) => phases,
    }),
    address: t.exposeString('address', { nullable: true, description: 'The address of the connection.' }),
    status: t.exposeInt('status', { nullable: true, description: 'The status code of an HTTP response.' }),
    certificateEndsAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'When the first TLS certificate expires: the server’s, an issuer’s, or that of a server that redirected.',
      resolve: ({ certificateEndsAt }) => (certificateEndsAt === undefined ? null : new Date(certificateEndsAt)),
    }),
    note: t.exposeString('note', {
      nullable: true,
      description: 'What the server does that HTTP forbids or that other clients refuse. It is no failure.',
    }),
    answers: t.exposeStringList('answers', { nullable: true, description: 'The records of a DNS response.' }),
    listedOn: t.exposeStringList('listedOn', {
      nullable: true,
      description: 'Ids of the blacklists that list the target, without acknowledged ones.',
    }),
    failedLists: t.exposeStringList('failedLists', {
      nullable: true,
      description: 'Ids of the blacklists without a usable answer.',
    }),
    output: t.exposeString('output', {
      nullable: true,
      description: 'The first line that a job sent with its heartbeat.',
    }),
  }),
})

const ProbeResultRef = builder.interfaceRef<StoredProbeResult>('ProbeResult').implement({
  description: 'A probe result of a monitor.',
  fields: (t) => ({
    cursor: t.string({ resolve: newestFirst.cursorOf, description: 'Its position in the monitor’s `results`.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When the probe began.' }),
    region: t.exposeString('region', {
      description: 'The region that probed; `*` if the result is the same everywhere.',
    }),
    outcome: t.expose('outcome', { type: ProbeOutcome, description: 'The outcome of the probe.' }),
    latencyMs: t.exposeInt('latencyMs', {
      nullable: true,
      description: 'The response time in milliseconds; null if it could not be measured.',
    }),
    message: t.exposeString('message', { extensions: text(500), description: 'The failure, or the measurement.' }),
    detail: t.field({
      type: ProbeDetailRef,
      nullable: true,
      description: 'Measurements in addition to the outcome; null if there are none.',
      // The stored value is a ProbeDetail.
      resolve: ({ detail }) => detail as ProbeDetail | null,
    }),
  }),
})

const MonitorProbeResult = builder
  .objectRef<StoredProbeResult>('MonitorProbeResult')
  .implement({ interfaces: [ProbeResultRef], description: 'A stored probe result of a monitor.' })

/** A new probe result. */
export const ProbeResultEvent = builder.objectRef<StoredProbeResult>('ProbeResultEvent').implement({
  description: 'A new probe result of a monitor.',
  interfaces: [ProbeResultRef],
  fields: (t) => ({
    monitor: t.prismaField({
      type: 'Monitor',
      nullable: true,
      description: 'The monitor as it is now; null once it is deleted.',
      resolve: (query, { monitorId }, _args, { db }) => db.monitor.findUnique({ ...query, where: { id: monitorId } }),
    }),
  }),
})

builder.prismaObjectField('Monitor', 'results', (t) =>
  t.field({
    type: connectionOfNode('MonitorProbeResult', MonitorProbeResult),
    description: 'Its probe results, newest first, for as long as the tier keeps them.',
    args: pageArgs,
    resolve: ({ id: monitorId }, args, { db }) =>
      pageOf({
        order: newestFirst,
        args,
        ...pageableResults({ db }, monitorId),
      }),
  }),
)
