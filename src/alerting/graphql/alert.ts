import { AlertChange, AlertSilence, MonitorState } from '../../generated/prisma/enums.ts'
import { text } from '../../graphql/document/cost.ts'
import { readTogether } from '../../graphql/execution/loader.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/list/connection.ts'
import { filterTag } from '../../graphql/list/filter.ts'
import { orderOf, pageOf } from '../../graphql/list/keyset.ts'
import { builder } from './builder.ts'

export const Alert = builder.prismaNode('Alert', {
  id: { field: 'id' },
  nullable: true,
  description:
    'A problem of a monitor, from when it is detected until it is over. A monitor that fails again within 30 minutes reopens its alert. Visible to the organization only.',
  fields: (t) => ({
    monitor: t.prismaField({
      type: 'Monitor',
      nullable: true,
      description: 'The monitor; null: it was deleted, or the alert is about an objective.',
      resolve: (query, { organizationId, subjectId }, _args, ctx) =>
        readTogether(ctx, () => ctx.db.monitor.findUnique({ ...query, where: { id: subjectId, organizationId } })),
    }),
    objective: t.prismaField({
      type: 'Objective',
      nullable: true,
      description: 'The objective; null: it was deleted, or the alert is about a monitor.',
      resolve: (query, { organizationId, subjectId }, _args, ctx) =>
        readTogether(ctx, () => ctx.db.objective.findUnique({ ...query, where: { id: subjectId, organizationId } })),
    }),
    monitorName: t.exposeString('subjectName', {
      description: 'The name of the monitor, or of the objective with its target, when the alert began.',
    }),
    change: t.expose('change', {
      type: AlertChange,
      description: 'The current problem, or the last one if the alert has ended.',
    }),
    state: t.expose('state', { type: MonitorState, description: 'The last reported state of the monitor.' }),
    since: t.expose('since', { type: 'DateTime', description: 'When this problem began.' }),
    message: t.exposeString('message', { extensions: text(400), description: 'The reason, from the probe’s message.' }),
    count: t.exposeInt('count', { description: 'The number of times the problem has begun.' }),
    openedAt: t.expose('openedAt', { type: 'DateTime', description: 'When the problem was first detected.' }),
    endedAt: t.expose('endedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the alert ended; null: it is open.',
    }),
    acknowledgedAt: t.expose('acknowledgedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was acknowledged; null: not yet.',
    }),
    acknowledgedBy: t.exposeString('acknowledgedBy', { nullable: true, description: 'Who acknowledged it.' }),
    silence: t.expose('silence', {
      type: AlertSilence,
      nullable: true,
      description: 'Why no channel is notified of it now; null: its channels were notified.',
    }),
  }),
})

const newestFirst = (filter: object | null | undefined) =>
  orderOf('Alert', { openedAt: ['time', 'desc'], id: ['text', 'desc'] }, filterTag(filter))

const AlertFilter = builder.inputType('AlertFilter', {
  description: 'Conditions. Items must match all of them.',
  fields: (t) => ({
    open: t.boolean({ required: false, description: 'True: only open alerts; false: only ended ones.' }),
  }),
})

builder.prismaObjectField('Organization', 'alerts', (t) =>
  t.field({
    type: connectionOf('Alert'),
    description:
      'The alerts, newest first. Kept for 100 days after they end. An organization without alert channels has no alerts.',
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
