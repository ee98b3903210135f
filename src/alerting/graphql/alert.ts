import { AlertChange, AlertSilence, MonitorState } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/connection.ts'
import { text } from '../../graphql/cost.ts'
import { filterTag } from '../../graphql/filter.ts'
import { orderOf, pageOf } from '../../graphql/keyset.ts'
import { readTogether } from '../../graphql/loader.ts'

/** An alert. */
export const Alert = builder.prismaNode('Alert', {
  id: { field: 'id' },
  nullable: true,
  description:
    'Something wrong with a monitor, from when it was noticed until it is over. When it comes back within 30 minutes, it is the same alert. Visible to the organization only.',
  fields: (t) => ({
    monitor: t.prismaField({
      type: 'Monitor',
      nullable: true,
      description: 'The monitor; null: it was deleted, or the alert is about an objective.',
      resolve: (query, { organizationId, monitorId }, _args, ctx) =>
        readTogether(ctx, () => ctx.db.monitor.findUnique({ ...query, where: { id: monitorId, organizationId } })),
    }),
    objective: t.prismaField({
      type: 'Objective',
      nullable: true,
      description: 'The objective; null: it was deleted, or the alert is about a monitor.',
      resolve: (query, { organizationId, monitorId }, _args, ctx) =>
        readTogether(ctx, () => ctx.db.objective.findUnique({ ...query, where: { id: monitorId, organizationId } })),
    }),
    monitorName: t.exposeString('monitorName', {
      description: 'The name of the monitor, or of the objective with its target, at that time.',
    }),
    change: t.expose('change', { type: AlertChange, description: 'What is wrong, or was at the end.' }),
    state: t.expose('state', { type: MonitorState, description: 'The state of the monitor, as far as was told.' }),
    since: t.expose('since', { type: 'DateTime', description: 'Since when that is wrong.' }),
    message: t.exposeString('message', { extensions: text(400), description: 'Why, as a probe said.' }),
    count: t.exposeInt('count', { description: 'How often it began.' }),
    openedAt: t.expose('openedAt', { type: 'DateTime', description: 'When it was first noticed.' }),
    endedAt: t.expose('endedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was over; null: it lasts.',
    }),
    acknowledgedAt: t.expose('acknowledgedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When somebody acknowledged it; null: nobody has.',
    }),
    acknowledgedBy: t.exposeString('acknowledgedBy', { nullable: true, description: 'Who acknowledged it.' }),
    silence: t.expose('silence', {
      type: AlertSilence,
      nullable: true,
      description: 'Why nobody is notified of it now; null: the channels that want it were.',
    }),
  }),
})

const newestFirst = (filter: object | null | undefined) =>
  orderOf('Alert', { openedAt: ['time', 'desc'], id: ['text', 'desc'] }, filterTag(filter))

const AlertFilter = builder.inputType('AlertFilter', {
  description: 'Conditions. Items must match all of them.',
  fields: (t) => ({
    open: t.boolean({ required: false, description: 'True: only those that last; false: only those that are over.' }),
  }),
})

builder.prismaObjectField('Organization', 'alerts', (t) =>
  t.field({
    type: connectionOf('Alert'),
    description: 'Newest first. Kept for 100 days after their end. An organization without alert channels has none.',
    args: { filter: t.arg({ type: AlertFilter, required: false }), ...pageArgs },
    resolve: ({ id }, { filter, ...args }, ctx, info) =>
      pageOf({
        order: newestFirst(filter),
        args,
        where: {
          organizationId: id,
          ...(filter?.open != null && { endedAt: filter.open ? null : { not: null } }),
        },
        read: (slice) => ctx.db.alert.findMany({ ...nodeQuery('Alert', ctx, info), ...slice }),
        count: (query) => ctx.db.alert.count(query),
      }),
  }),
)
