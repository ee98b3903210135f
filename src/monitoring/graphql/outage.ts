import { builder } from '../../graphql/builder.ts'
import { connectionOfNode, pageArgs } from '../../graphql/connection.ts'
import { orderOf, pageOfList } from '../../graphql/keyset.ts'
import { perOperation } from '../../graphql/loader.ts'
import { SECOND } from '../../time.ts'
import type { Asked } from '../past.ts'
import { readOutages } from '../past.ts'
import type { Outage } from '../uptime.ts'
import { shownSpan } from './uptime.ts'

interface MonitorOutage extends Outage {
  readonly monitorId: string
}

/** The incident that tells of an outage: one of its monitor's that was open during it; null when there is none. */
const incidentOf = perOperation(
  async ({ db }, outages: readonly MonitorOutage[]): Promise<readonly (string | null)[]> => {
    const memberships = await db.incidentMonitor.findMany({
      where: { monitorId: { in: [...new Set(outages.map(({ monitorId }) => monitorId))] } },
      select: { monitorId: true, incident: { select: { id: true, startedAt: true, resolvedAt: true } } },
      orderBy: { incident: { startedAt: 'desc' } },
    })
    return outages.map(({ monitorId, startedAt, endedAt }) => {
      const found = memberships.find(
        ({ monitorId: member, incident }) =>
          member === monitorId &&
          (endedAt === null || incident.startedAt <= endedAt) &&
          (incident.resolvedAt === null || incident.resolvedAt >= startedAt),
      )
      return found?.incident.id ?? null
    })
  },
)

const OutageRef = builder.objectRef<MonitorOutage>('Outage').implement({
  description: 'A time in which a monitor was down.',
  fields: (t) => ({
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When the first check failed.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'Null: it lasts.' }),
    durationSeconds: t.int({
      description: 'From its start to its end, or until now.',
      resolve: ({ startedAt, endedAt }, _args, { now }) =>
        Math.floor(((endedAt ?? now()).getTime() - startedAt.getTime()) / SECOND),
    }),
    downSeconds: t.int({
      description: 'How much of it counts as down: neither unwatched time does nor maintenance.',
      resolve: ({ downMs }) => Math.floor(downMs / SECOND),
    }),
    cause: t.exposeString('cause', { description: 'What the first failing check said.' }),
    incident: t.prismaField({
      type: 'Incident',
      nullable: true,
      description: 'The incident that tells of it.',
      resolve: async (query, outage, _args, ctx) => {
        const id = await incidentOf(ctx, outage)
        return id === null ? null : ctx.db.incident.findUnique({ ...query, where: { id } })
      },
    }),
  }),
})

const outagesOf = perOperation((ctx, asked: readonly Asked[]) => readOutages(ctx.db, asked, ctx.now()))

const newestFirst = orderOf('Outage', { startedAt: ['time', 'desc'] })

builder.prismaObjectField('Monitor', 'outages', (t) =>
  t.field({
    type: connectionOfNode('Outage', OutageRef),
    description: 'When it was down, newest first, as far back as the tier shows.',
    args: pageArgs,
    resolve: async (monitor, args, ctx) => {
      const span = await shownSpan(ctx, monitor, { from: new Date(0) })
      const found = await outagesOf(ctx, { id: monitor.id, ...span })
      const outages = found.map((outage) => ({ ...outage, monitorId: monitor.id }))
      return pageOfList(newestFirst, args, outages)
    },
  }),
)
