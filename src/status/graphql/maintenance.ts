import { Conflict, Invalid, NotFound } from '../../errors.ts'
import { MaintenanceStatus } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/connection.ts'
import { costs, text } from '../../graphql/cost.ts'
import { deletionOf } from '../../graphql/deletion.ts'
import { pageOf } from '../../graphql/keyset.ts'
import { creatingRow, IDEMPOTENCY_KEY } from '../../graphql/once.ts'
import { ownerOnly } from '../../graphql/owner.ts'
import {
  cancelMaintenance,
  deleteMaintenance,
  deleteMaintenanceUpdate,
  editMaintenanceUpdate,
  scheduleMaintenance,
  updateMaintenance,
} from '../maintenance.ts'
import { LONGEST_ENTRY } from '../timeline.ts'
import { newestFirst } from './lists.ts'
import { Service } from './service.ts'
import { timelineEnds } from './timeline.ts'

const entriesOf = timelineEnds({
  table: 'MaintenanceUpdate',
  parent: 'maintenanceId',
  read: (db, ids, include) => db.maintenanceUpdate.findMany({ ...include, where: { id: { in: ids } } }),
})

const Maintenance = builder.prismaNode('Maintenance', {
  id: { field: 'id' },
  nullable: true,
  description: 'Work on services that is announced beforehand; it starts and ends by itself.',
  fields: (t) => ({
    title: t.exposeString('title', { description: 'A short title.' }),
    status: t.expose('status', { type: MaintenanceStatus, description: 'How far it is.' }),
    startsAt: t.expose('startsAt', { type: 'DateTime', description: 'When it is planned to start.' }),
    endsAt: t.expose('endsAt', { type: 'DateTime', description: 'When it is planned to end.' }),
    services: t.field({
      type: [Service],
      extensions: costs({ items: 3 }),
      description: 'The services it touches, in the order of the page.',
      select: (_args, _ctx, nestedSelection) => ({
        services: {
          select: { service: nestedSelection(true) },
          orderBy: [{ service: { position: 'asc' } }, { serviceId: 'asc' }],
        },
      }),
      resolve: ({ services }) => services.map(({ service }) => service),
    }),
    updates: t.field({
      type: connectionOf('MaintenanceUpdate'),
      description: 'Its timeline, newest first.',
      args: pageArgs,
      resolve: ({ id }, args, ctx, info) =>
        pageOf({
          order: newestFirst('MaintenanceUpdate'),
          args,
          where: { maintenanceId: id },
          read: (slice) => {
            const include = nodeQuery('MaintenanceUpdate', ctx, info)
            return args.after == null && args.before == null
              ? entriesOf(ctx, { parentId: id, take: slice.take, newestFirst: args.last == null, include })
              : ctx.db.maintenanceUpdate.findMany({ ...include, ...slice })
          },
          count: (query) => ctx.db.maintenanceUpdate.count(query),
        }),
    }),
    version: t.exposeInt('version', {
      nullable: true,
      authScopes: ownerOnly,
      description: 'Raised by every edit. Needs a key of the organization.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: true,
      authScopes: ownerOnly,
      description: 'Needs a key of the organization.',
    }),
  }),
})

const MaintenanceUpdate = builder.prismaNode('MaintenanceUpdate', {
  id: { field: 'id' },
  nullable: true,
  description: 'An entry of a maintenance’s timeline.',
  fields: (t) => ({
    maintenanceId: t.exposeID('maintenanceId', { description: 'The maintenance it belongs to.' }),
    status: t.expose('status', { type: MaintenanceStatus, description: 'The maintenance’s status as of this update.' }),
    message: t.exposeString('message', { description: 'Markdown.', extensions: text(LONGEST_ENTRY) }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    editedAt: t.expose('editedAt', { type: 'DateTime', nullable: true, description: 'Null unless it was edited.' }),
    version: t.exposeInt('version', {
      nullable: true,
      authScopes: ownerOnly,
      description: 'Raised by every edit. Needs a key of the organization.',
    }),
  }),
})

const ScheduleMaintenanceInput = builder.inputType('ScheduleMaintenanceInput', {
  description: 'The maintenance to schedule.',
  fields: (t) => ({
    title: t.string({ description: 'A short title.' }),
    message: t.string({ description: 'The first entry of the timeline, in markdown.' }),
    startsAt: t.field({ type: 'DateTime', description: 'In the past: it starts at once.' }),
    endsAt: t.field({ type: 'DateTime', description: 'When it ends.' }),
    serviceIds: t.idList({ required: false, description: 'The services it affects.' }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

builder.mutationField('scheduleMaintenance', (t) =>
  t.field({
    type: Maintenance,
    description: 'Announces a maintenance. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: ScheduleMaintenanceInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: creatingRow('scheduleMaintenance', scheduleMaintenance),
  }),
)

const UpdateMaintenanceInput = builder.inputType('UpdateMaintenanceInput', {
  description: 'What is left out stays as it is.',
  fields: (t) => ({
    id: t.id({ description: 'The maintenance to change.' }),
    title: t.string({ required: false, description: 'A short title.' }),
    startsAt: t.field({ type: 'DateTime', required: false, description: 'When it starts.' }),
    endsAt: t.field({ type: 'DateTime', required: false, description: 'When it ends.' }),
    serviceIds: t.idList({
      required: false,
      description: 'All the services it touches, in place of those it has; settled once it is over.',
    }),
    message: t.string({
      required: false,
      description: 'Added to the timeline, in markdown. A timeline takes 500 entries, and one that ends it.',
    }),
    status: t.field({
      type: MaintenanceStatus,
      required: false,
      description: 'Starts or ends it before its time, or says that the work is being verified.',
    }),
    version: t.int({ required: false, description: 'The version that was read: a newer one makes a conflict.' }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

builder.mutationField('updateMaintenance', (t) =>
  t.field({
    type: Maintenance,
    description: 'Changes a maintenance, or tells how it goes. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: UpdateMaintenanceInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: creatingRow('updateMaintenance', updateMaintenance),
  }),
)

const CancelMaintenanceInput = builder.inputType('CancelMaintenanceInput', {
  description: 'Which maintenance to cancel, and why.',
  fields: (t) => ({
    id: t.id({ description: 'The maintenance to cancel.' }),
    message: t.string({ required: false, description: 'Why, in markdown.' }),
  }),
})

builder.mutationField('cancelMaintenance', (t) =>
  t.field({
    type: Maintenance,
    description: 'Calls a maintenance off. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: CancelMaintenanceInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => cancelMaintenance(ctx, input),
  }),
)

const EditMaintenanceUpdateInput = builder.inputType('EditMaintenanceUpdateInput', {
  description: 'What to change in a maintenance update.',
  fields: (t) => ({
    id: t.id({ description: 'The update to change.' }),
    message: t.string({ required: false, description: 'Markdown; absent: as it is.' }),
    createdAt: t.field({ type: 'DateTime', required: false, description: 'Its time, never in the future.' }),
    version: t.int({ required: false, description: 'The version that was read: a newer one makes a conflict.' }),
  }),
})

builder.mutationField('editMaintenanceUpdate', (t) =>
  t.field({
    type: MaintenanceUpdate,
    description: 'Corrects a maintenance update. Nobody is notified. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: EditMaintenanceUpdateInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => editMaintenanceUpdate(ctx, input),
  }),
)

builder.mutationField('deleteMaintenanceUpdate', (t) =>
  t.field({
    type: deletionOf('MaintenanceUpdate'),
    description: 'Deletes a maintenance update; the only one stays. Needs a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, Conflict] },
    resolve: (_root, { id }, ctx) => deleteMaintenanceUpdate(ctx, id),
  }),
)

builder.mutationField('deleteMaintenance', (t) =>
  t.field({
    type: deletionOf('Maintenance'),
    description:
      'Deletes a maintenance with its timeline; the time in which it ran counts for uptime again. Needs a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => deleteMaintenance(ctx, id),
  }),
)
