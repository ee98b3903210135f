import { SECOND } from '../../core/time.ts'
import { text } from '../../graphql/document/cost.ts'
import { batchPerOperation, readTogether } from '../../graphql/execution/loader.ts'
import { connectionOfNode, pageArgs } from '../../graphql/list/connection.ts'
import { orderOf, pageOfList } from '../../graphql/list/keyset.ts'
import type { MonitorOutage } from '../state/outage-incident.ts'
import { readIncidentIds } from '../state/outage-incident.ts'
import type { SpanQuery } from '../uptime/uptime-history.ts'
import { readOutages } from '../uptime/uptime-history.ts'
import { builder } from './builder.ts'
import { spanOf } from './uptime.ts'

const incidentOf = batchPerOperation(({ db }, outages: readonly MonitorOutage[]) => readIncidentIds(db, outages))

const OutageRef = builder.objectRef<MonitorOutage>('Outage').implement({
  description: 'A period in which a monitor was down.',
  fields: (t) => ({
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When the first failed probe began.' }),
    endedAt: t.expose('endedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ended; null: it is ongoing.',
    }),
    durationSeconds: t.int({
      description: 'Its duration, until now while it is ongoing.',
      resolve: ({ startedAt, endedAt }, _args, { now }) =>
        Math.floor(((endedAt ?? now()).getTime() - startedAt.getTime()) / SECOND),
    }),
    downSeconds: t.int({
      description: 'Its duration without maintenance and unknown time.',
      resolve: ({ downMs }) => Math.floor(downMs / SECOND),
    }),
    cause: t.exposeString('cause', { extensions: text(500), description: 'The message of the first failed probe.' }),
    incident: t.prismaField({
      type: 'Incident',
      nullable: true,
      description: 'The incident that it opened or joined. Null: none.',
      resolve: async (query, outage, _args, ctx) => {
        const id = await incidentOf(ctx, outage)
        return id === null ? null : readTogether(ctx, () => ctx.db.incident.findUnique({ ...query, where: { id } }))
      },
    }),
  }),
})

const outagesOf = batchPerOperation((ctx, asked: readonly SpanQuery[]) => readOutages(ctx.db, asked, ctx.now()))

const newestFirst = orderOf('Outage', { startedAt: ['time', 'desc'] })

builder.prismaObjectField('Monitor', 'outages', (t) =>
  t.field({
    type: connectionOfNode('Outage', OutageRef),
    description: 'Its outages, newest first, within the history of the tier.',
    args: pageArgs,
    resolve: async (monitor, args, ctx) => {
      const span = await spanOf(ctx, monitor, { from: new Date(0) })
      const found = await outagesOf(ctx, { id: monitor.id, ...span })
      const outages = found.map((outage) => ({ ...outage, monitorId: monitor.id }))
      return pageOfList(newestFirst, args, outages)
    },
  }),
)
