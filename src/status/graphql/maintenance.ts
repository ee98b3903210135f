import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import { MaintenanceStatus } from '../../generated/prisma/enums.ts'
import { rows, text } from '../../graphql/document/cost.ts'
import { cacheable } from '../../graphql/execution/cacheable.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/list/connection.ts'
import { pageOf } from '../../graphql/list/keyset.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { describedInput } from '../../graphql/schema/described-type.ts'
import { createRowResolver } from '../../graphql/schema/idempotent-mutation.ts'
import { ownerOnly } from '../../graphql/schema/owner-only.ts'
import { VERSION } from '../../graphql/schema/version.ts'
import {
  cancellation,
  cancelMaintenance,
  deleteMaintenance,
  deleteMaintenanceUpdate,
  editMaintenanceUpdate,
  maintenanceEdit,
  newMaintenance,
  scheduleMaintenance,
  updateMaintenance,
} from '../maintenance/maintenance.ts'
import { ruleInWords } from '../maintenance/recurrence.ts'
import { MAX_SERVICES } from '../ownership.ts'
import { MAX_MESSAGE_LENGTH } from '../timeline/timeline-limits.ts'
import { maintenanceUpdateEdit } from '../timeline/update-edit.ts'
import { builder } from './builder.ts'
import { newestFirst } from './connections.ts'
import { Service } from './service.ts'
import { timelineLoader } from './timeline-loader.ts'
import { MessageTranslation, messagesCost, messagesIn, TitleTranslation, titlesCost, titlesIn } from './translation.ts'

const loadUpdates = timelineLoader({
  table: 'MaintenanceUpdate',
  parent: 'maintenanceId',
  read: (db, ids, include) => db.maintenanceUpdate.findMany({ ...include, where: { id: { in: ids } } }),
})

const Maintenance = builder.prismaNode('Maintenance', {
  id: { field: 'id' },
  nullable: true,
  description: 'Planned work on services. It starts and ends automatically at the planned times.',
  extensions: cacheable(
    'id',
    'title',
    'status',
    'startsAt',
    'endsAt',
    'services',
    'updates',
    'repeats',
    'translations',
  ),
  fields: (t) => ({
    title: t.exposeString('title', { description: 'A short title.' }),
    translations: t.field({
      type: [TitleTranslation],
      extensions: titlesCost,
      description: 'The title in other languages.',
      resolve: ({ titles }) => titlesIn(titles),
    }),
    status: t.expose('status', { type: MaintenanceStatus, description: 'The status.' }),
    startsAt: t.expose('startsAt', { type: 'DateTime', description: 'The planned start.' }),
    endsAt: t.expose('endsAt', { type: 'DateTime', description: 'The planned end.' }),
    importedFrom: t.exposeString('importedFrom', {
      nullable: true,
      description: 'The tool from which it was imported, such as Cachet. Null: it was not imported.',
    }),
    services: t.field({
      type: [Service],
      extensions: rows(MAX_SERVICES, 'servicesOfMaintenance'),
      description: 'The affected services, in page order.',
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
      description: 'The timeline, newest first.',
      args: pageArgs,
      resolve: ({ id }, args, ctx, info) =>
        pageOf({
          order: newestFirst('MaintenanceUpdate'),
          args,
          where: { maintenanceId: id },
          read: (slice) => {
            const include = nodeQuery('MaintenanceUpdate', ctx, info)
            return args.after == null && args.before == null
              ? loadUpdates(ctx, { parentId: id, take: slice.take, newestFirst: args.last == null, include })
              : ctx.db.maintenanceUpdate.findMany({ ...include, ...slice })
          },
          count: (query) => ctx.db.maintenanceUpdate.count(query),
        }),
    }),
    repeats: t.string({
      nullable: true,
      description: 'How it repeats, in English, such as “Every Sunday at 02:00”. Null: it does not.',
      select: { series: { select: { rule: true, firstStart: true } } },
      resolve: ({ series }) => series && ruleInWords(series.rule, series.firstStart),
    }),
    version: t.exposeInt('version', VERSION),
    seriesId: t.exposeID('seriesId', {
      nullable: true,
      authScopes: ownerOnly,
      description:
        'The repeating maintenance to which this date belongs. Null: none. Requires a key of the organization.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: true,
      authScopes: ownerOnly,
      description: 'When it was created. Requires a key of the organization.',
    }),
  }),
})

const MaintenanceUpdate = builder.prismaNode('MaintenanceUpdate', {
  id: { field: 'id' },
  nullable: true,
  description: 'An update in a maintenance’s timeline.',
  extensions: cacheable('id', 'maintenanceId', 'status', 'message', 'translations', 'createdAt', 'editedAt'),
  fields: (t) => ({
    maintenanceId: t.exposeID('maintenanceId', { description: 'The maintenance it belongs to.' }),
    status: t.expose('status', { type: MaintenanceStatus, description: 'The maintenance’s status as of this update.' }),
    message: t.exposeString('message', {
      description: 'The message, in markdown.',
      extensions: text(MAX_MESSAGE_LENGTH),
    }),
    translations: t.field({
      type: [MessageTranslation],
      extensions: messagesCost,
      description: 'The message in other languages.',
      resolve: ({ translations }) => messagesIn(translations),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    editedAt: t.expose('editedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last edited. Null: never.',
    }),
    version: t.exposeInt('version', VERSION),
  }),
})

builder.mutationField('scheduleMaintenance', (t) =>
  t.field({
    type: Maintenance,
    description: 'Schedules a maintenance. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(newMaintenance, { isCreation: true }) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: createRowResolver('scheduleMaintenance', scheduleMaintenance),
  }),
)

builder.mutationField('updateMaintenance', (t) =>
  t.field({
    type: Maintenance,
    description: 'Updates a maintenance, or posts an update to it. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(maintenanceEdit, { isCreation: true }) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: createRowResolver('updateMaintenance', updateMaintenance),
  }),
)

builder.mutationField('cancelMaintenance', (t) =>
  t.field({
    type: Maintenance,
    description: 'Cancels a maintenance. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(cancellation) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => cancelMaintenance(ctx, input),
  }),
)

builder.mutationField('editMaintenanceUpdate', (t) =>
  t.field({
    type: MaintenanceUpdate,
    description: 'Edits a maintenance update without notifying subscribers. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(maintenanceUpdateEdit) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => editMaintenanceUpdate(ctx, input),
  }),
)

builder.mutationField('deleteMaintenanceUpdate', (t) =>
  t.field({
    type: deletionPayload('MaintenanceUpdate'),
    description: 'Deletes a maintenance update. The only update cannot be deleted. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, Conflict] },
    resolve: (_root, { id }, ctx) => deleteMaintenanceUpdate(ctx, id),
  }),
)

builder.mutationField('deleteMaintenance', (t) =>
  t.field({
    type: deletionPayload('Maintenance'),
    description:
      'Deletes a maintenance with its timeline. Its time counts towards uptime again. A repeating maintenance skips the deleted date from then on. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => deleteMaintenance(ctx, id),
  }),
)
