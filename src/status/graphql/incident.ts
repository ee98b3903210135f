import { Conflict, Invalid, NotFound } from '../../errors.ts'
import { IncidentImpact, IncidentStatus, ServiceStatus } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { bulkMutation } from '../../graphql/bulk.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/connection.ts'
import { costs, text } from '../../graphql/cost.ts'
import { deletionOf } from '../../graphql/deletion.ts'
import { pageOf } from '../../graphql/keyset.ts'
import { creatingRow, IDEMPOTENCY_KEY } from '../../graphql/once.ts'
import { ownerOnly } from '../../graphql/owner.ts'
import {
  createIncident,
  deleteIncident,
  deleteIncidentUpdate,
  editIncidentUpdate,
  postIncidentUpdate,
  updateIncident,
  updateIncidentServices,
} from '../incident.ts'
import { LONGEST_ENTRY } from '../timeline.ts'
import { newestFirst } from './lists.ts'
import { timelineEnds } from './timeline.ts'

builder.prismaObject('IncidentService', {
  description: 'What an incident does to a service at present.',
  fields: (t) => ({
    service: t.relation('service', { description: 'The service.' }),
    status: t.expose('status', { type: ServiceStatus, description: 'The status the incident gives it.' }),
  }),
})

const entriesOf = timelineEnds({
  table: 'IncidentUpdate',
  parent: 'incidentId',
  read: (db, ids, include) => db.incidentUpdate.findMany({ ...include, where: { id: { in: ids } } }),
})

const Incident = builder.prismaNode('Incident', {
  id: { field: 'id' },
  nullable: true,
  description: 'Something that went wrong, with the timeline of what was said about it.',
  fields: (t) => ({
    title: t.exposeString('title', { description: 'A short title.' }),
    status: t.expose('status', { type: IncidentStatus, description: 'The status of its newest update.' }),
    impact: t.expose('impact', { type: IncidentImpact, description: 'How bad it is as a whole.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it started.' }),
    resolvedAt: t.expose('resolvedAt', { type: 'DateTime', nullable: true, description: 'Null while it is open.' }),
    services: t.relation('services', {
      extensions: costs({ items: 3 }),
      description: 'The services it touches, in the order of the page.',
      query: { orderBy: [{ service: { position: 'asc' } }, { serviceId: 'asc' }] },
    }),
    updates: t.field({
      type: connectionOf('IncidentUpdate'),
      description: 'Its timeline, newest first.',
      args: pageArgs,
      resolve: ({ id }, args, ctx, info) =>
        pageOf({
          order: newestFirst('IncidentUpdate'),
          args,
          where: { incidentId: id },
          read: (slice) => {
            const include = nodeQuery('IncidentUpdate', ctx, info)
            return args.after == null && args.before == null
              ? entriesOf(ctx, { parentId: id, take: slice.take, newestFirst: args.last == null, include })
              : ctx.db.incidentUpdate.findMany({ ...include, ...slice })
          },
          count: (query) => ctx.db.incidentUpdate.count(query),
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
      description: 'When it was written down, which may be later than it started. Needs a key of the organization.',
    }),
  }),
})

builder.prismaObject('IncidentUpdateService', {
  description: 'What an update said of a service.',
  fields: (t) => ({
    service: t.relation('service', { description: 'The service.' }),
    status: t.expose('status', { type: ServiceStatus, description: 'The status the update gives it.' }),
  }),
})

const IncidentUpdate = builder.prismaNode('IncidentUpdate', {
  id: { field: 'id' },
  nullable: true,
  description: 'An entry of an incident’s timeline.',
  fields: (t) => ({
    incidentId: t.exposeID('incidentId', { description: 'The incident it belongs to.' }),
    status: t.expose('status', { type: IncidentStatus, description: 'The incident’s status as of this update.' }),
    message: t.exposeString('message', { description: 'Markdown.', extensions: text(LONGEST_ENTRY) }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    editedAt: t.expose('editedAt', { type: 'DateTime', nullable: true, description: 'Null unless it was edited.' }),
    services: t.relation('services', {
      extensions: costs({ items: 1 }),
      description: 'What it said of services, in the order of the page.',
      query: { orderBy: [{ service: { position: 'asc' } }, { serviceId: 'asc' }] },
    }),
    version: t.exposeInt('version', {
      nullable: true,
      authScopes: ownerOnly,
      description: 'Raised by every edit. Needs a key of the organization.',
    }),
  }),
})

const IncidentServiceInput = builder.inputType('IncidentServiceInput', {
  description: 'A service and the status an incident gives it.',
  fields: (t) => ({
    serviceId: t.id({ description: 'The service.' }),
    status: t.field({ type: ServiceStatus, description: 'OPERATIONAL says that it has recovered.' }),
  }),
})

const CreateIncidentInput = builder.inputType('CreateIncidentInput', {
  description: 'The incident to create, with its first update.',
  fields: (t) => ({
    title: t.string({ description: 'A short title, as the page shows it.' }),
    status: t.field({ type: IncidentStatus, description: 'The status to begin with.' }),
    impact: t.field({ type: IncidentImpact, description: 'How bad the incident is as a whole.' }),
    message: t.string({ description: 'The first entry of the timeline, in markdown.' }),
    services: t.field({
      type: [IncidentServiceInput],
      required: false,
      description: 'The services it affects, and how.',
    }),
    startedAt: t.field({ type: 'DateTime', required: false, description: 'Absent: now. Never in the future.' }),
    resolvedAt: t.field({
      type: 'DateTime',
      required: false,
      description: 'When it was resolved, of a past incident that is added for the record: nobody is notified.',
    }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

builder.mutationField('createIncident', (t) =>
  t.field({
    type: Incident,
    description: 'Tells of an incident. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: CreateIncidentInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: creatingRow('createIncident', createIncident),
  }),
)

const UpdateIncidentInput = builder.inputType('UpdateIncidentInput', {
  description: 'What is left out stays as it is.',
  fields: (t) => ({
    id: t.id({ description: 'The incident to change.' }),
    title: t.string({ required: false, description: 'A short title.' }),
    impact: t.field({ type: IncidentImpact, required: false, description: 'How bad it is as a whole.' }),
    services: t.field({
      type: [IncidentServiceInput],
      required: false,
      description: 'All the services it touches, in place of those it has.',
    }),
    startedAt: t.field({ type: 'DateTime', required: false, description: 'When it started; never in the future.' }),
    resolvedAt: t.field({
      type: 'DateTime',
      required: false,
      description: 'When it was resolved, not before its start; only once it is.',
    }),
    version: t.int({ required: false, description: 'The version that was read: a newer one makes a conflict.' }),
  }),
})

builder.mutationField('updateIncident', (t) =>
  t.field({
    type: Incident,
    description: 'Changes what an incident is called and what it touches. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: UpdateIncidentInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => updateIncident(ctx, input),
  }),
)

const IncidentServicesInput = builder.inputType('IncidentServicesInput', {
  description: 'What changes of the services of an incident; those that are not named stay as they are.',
  fields: (t) => ({
    incidentId: t.id({ description: 'The incident.' }),
    services: t.field({
      type: [IncidentServiceInput],
      required: false,
      description: 'What the incident does to these services from now on.',
    }),
    removedServiceIds: t.idList({ required: false, description: 'The services that it touches no longer.' }),
    version: t.int({ required: false, description: 'The version that was read: a newer one makes a conflict.' }),
  }),
})

bulkMutation('updateIncidentServices', IncidentServicesInput, {
  type: Incident,
  description: 'Changes the services of up to 100 incidents. Needs a key with scope WRITE.',
  errors: [Invalid, NotFound],
  work: updateIncidentServices,
})

const PostIncidentUpdateInput = builder.inputType('PostIncidentUpdateInput', {
  description: 'The update to add to an incident.',
  fields: (t) => ({
    incidentId: t.id({ description: 'The incident to update.' }),
    status: t.field({ type: IncidentStatus, description: 'RESOLVED closes the incident; any other reopens it.' }),
    message: t.string({ description: 'Markdown.' }),
    services: t.field({
      type: [IncidentServiceInput],
      required: false,
      description: 'What is new of services; the others stay as they are.',
    }),
    createdAt: t.field({
      type: 'DateTime',
      required: false,
      description: 'Its time, never in the future; absent: now. Before another update’s time nobody is notified.',
    }),
    version: t.int({ required: false, description: 'The incident’s version: a newer one makes a conflict.' }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

builder.mutationField('postIncidentUpdate', (t) =>
  t.field({
    type: IncidentUpdate,
    description:
      'Adds to the timeline of an incident, which takes 500 entries and one that resolves it. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: PostIncidentUpdateInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: creatingRow('postIncidentUpdate', postIncidentUpdate),
  }),
)

const EditIncidentUpdateInput = builder.inputType('EditIncidentUpdateInput', {
  description: 'What to change in an incident update.',
  fields: (t) => ({
    id: t.id({ description: 'The update to change.' }),
    message: t.string({ required: false, description: 'Markdown; absent: as it is.' }),
    createdAt: t.field({
      type: 'DateTime',
      required: false,
      description: 'Its time, never in the future. The incident’s status is that of its newest update.',
    }),
    version: t.int({ required: false, description: 'The version that was read: a newer one makes a conflict.' }),
  }),
})

builder.mutationField('editIncidentUpdate', (t) =>
  t.field({
    type: IncidentUpdate,
    description: 'Corrects an incident update. Nobody is notified. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: EditIncidentUpdateInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => editIncidentUpdate(ctx, input),
  }),
)

builder.mutationField('deleteIncidentUpdate', (t) =>
  t.field({
    type: deletionOf('IncidentUpdate'),
    description:
      'Deletes an incident update; the incident follows the newest one that is left. The only one stays. Needs a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { id }, ctx) => deleteIncidentUpdate(ctx, id),
  }),
)

builder.mutationField('deleteIncident', (t) =>
  t.field({
    type: deletionOf('Incident'),
    description: 'Deletes an incident with its timeline, as if it had never been told. Needs a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => deleteIncident(ctx, id),
  }),
)
