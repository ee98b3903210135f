import { resolveCursorConnection } from '@pothos/plugin-relay'
import { builder } from '../../graphql/builder.ts'
import { perOperation } from '../../graphql/loader.ts'
import { SECOND } from '../../time.ts'
import { invalid } from '../../validate.ts'
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

const cursorOf = ({ startedAt }: Pick<Outage, 'startedAt'>) => startedAt.getTime().toString(36)

/** @throws Invalid when a text is no cursor of this connection. */
function startOf(cursor: string): number {
  if (/^[0-9a-z]{1,9}$/.test(cursor)) return Number.parseInt(cursor, 36)
  throw invalid([{ path: ['after'], message: 'is no cursor of this connection' }])
}

builder.prismaObjectField('Monitor', 'outages', (t) =>
  t.connection(
    {
      type: OutageRef,
      description: 'When it was down, newest first, as far back as the tier shows.',
      resolve: async (monitor, args, ctx) => {
        const span = await shownSpan(ctx, monitor, { from: new Date(0) })
        const found = await outagesOf(ctx, { id: monitor.id, ...span })
        const outages = found.map((outage) => ({ ...outage, monitorId: monitor.id }))
        const page = await resolveCursorConnection<Promise<MonitorOutage[]>>(
          { args, toCursor: cursorOf },
          async ({ after, before, limit, inverted }) => {
            const until = after === undefined ? Number.POSITIVE_INFINITY : startOf(after)
            const since = before === undefined ? Number.NEGATIVE_INFINITY : startOf(before)
            const between = outages.filter(({ startedAt }) => +startedAt < until && +startedAt > since)
            return (inverted ? between.reverse() : between).slice(0, limit)
          },
        )
        return { ...page, totalCount: outages.length }
      },
    },
    { fields: (c) => ({ totalCount: c.exposeInt('totalCount') }) },
  ),
)
