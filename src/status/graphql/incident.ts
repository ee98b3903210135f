import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import { IncidentImpact, IncidentStatus, IncidentVisibility, ServiceStatus } from '../../generated/prisma/enums.ts'
import { rows } from '../../graphql/document/cost.ts'
import { cacheable } from '../../graphql/execution/cacheable.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/list/connection.ts'
import { pageOf } from '../../graphql/list/keyset.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { createRowResolver, IDEMPOTENCY_KEY } from '../../graphql/schema/idempotent-mutation.ts'
import { ownerOnly } from '../../graphql/schema/owner-only.ts'
import { VERSION, VERSION_READ } from '../../graphql/schema/version.ts'
import { deleteIncident, updateIncident } from '../incident/incident-edits.ts'
import { mergeIncidents } from '../incident/incident-merging.ts'
import { createIncident } from '../incident/incident-opening.ts'
import { dismissIncident, publishIncident } from '../incident/incident-publication.ts'
import { updateIncidentServices } from '../incident/incident-services.ts'
import { MAX_SERVICES } from '../ownership.ts'
import { builder, bulkMutation } from './builder.ts'
import { newestFirst } from './connections.ts'
import { timelineLoader } from './timeline-loader.ts'
import { TitleTranslation, titlesCost, titlesIn, translationsField } from './translation.ts'

builder.prismaObject('IncidentService', {
  description: 'A service affected by an incident.',
  extensions: cacheable('service', 'status'),
  fields: (t) => ({
    service: t.relation('service', { description: 'The service.' }),
    status: t.expose('status', { type: ServiceStatus, description: 'The status that the incident gives the service.' }),
  }),
})

const loadUpdates = timelineLoader({
  table: 'IncidentUpdate',
  parent: 'incidentId',
  read: (db, ids, include) => db.incidentUpdate.findMany({ ...include, where: { id: { in: ids } } }),
})

/** An incident. */
export const Incident = builder.prismaNode('Incident', {
  id: { field: 'id' },
  nullable: true,
  description: 'An incident with its timeline of updates.',
  extensions: cacheable(
    'id',
    'title',
    'status',
    'impact',
    'visibility',
    'startedAt',
    'resolvedAt',
    'services',
    'updates',
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
    status: t.expose('status', { type: IncidentStatus, description: 'The status of its newest update.' }),
    impact: t.expose('impact', { type: IncidentImpact, description: 'The overall impact.' }),
    visibility: t.expose('visibility', { type: IncidentVisibility, description: 'Who sees it.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it started.' }),
    importedFrom: t.exposeString('importedFrom', {
      nullable: true,
      description: 'The tool from which it was imported, such as Cachet. Null: it was not imported.',
    }),
    resolvedAt: t.expose('resolvedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the incident was resolved. Null: it is open.',
    }),
    services: t.relation('services', {
      extensions: rows(MAX_SERVICES, 'servicesOfIncident'),
      description: 'The affected services, in page order.',
      query: { orderBy: [{ service: { position: 'asc' } }, { serviceId: 'asc' }] },
    }),
    updates: t.field({
      type: connectionOf('IncidentUpdate'),
      description: 'The timeline, newest first.',
      args: pageArgs,
      resolve: ({ id }, args, ctx, info) =>
        pageOf({
          order: newestFirst('IncidentUpdate'),
          args,
          where: { incidentId: id },
          read: (slice) => {
            const include = nodeQuery('IncidentUpdate', ctx, info)
            return args.after == null && args.before == null
              ? loadUpdates(ctx, { parentId: id, take: slice.take, newestFirst: args.last == null, include })
              : ctx.db.incidentUpdate.findMany({ ...include, ...slice })
          },
          count: (query) => ctx.db.incidentUpdate.count(query),
        }),
    }),
    version: t.exposeInt('version', VERSION),
    mergedIntoId: t.exposeID('mergedIntoId', {
      nullable: true,
      authScopes: ownerOnly,
      description: 'The incident that it was merged into. Null: it was not merged. Requires a key of the organization.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: true,
      authScopes: ownerOnly,
      description: 'When it was created, which may be after it started. Requires a key of the organization.',
    }),
  }),
})

/** A service and the status that an incident gives it. */
export const IncidentServiceInput = builder.inputType('IncidentServiceInput', {
  description: 'An affected service and its status.',
  fields: (t) => ({
    serviceId: t.id({ description: 'The service.' }),
    status: t.field({ type: ServiceStatus, description: 'The service’s status. OPERATIONAL: recovered.' }),
  }),
})

/** Whether subscribers are notified. */
export const NOTIFY_SUBSCRIBERS = {
  required: false,
  defaultValue: true,
  description: 'Whether subscribers are notified of it. The page, its feeds and live events show it in any case.',
} as const

const CreateIncidentInput = builder.inputType('CreateIncidentInput', {
  description: 'The incident to create, with its first update.',
  fields: (t) => ({
    title: t.string({ description: 'A short title, shown on the page.' }),
    status: t.field({ type: IncidentStatus, description: 'The initial status.' }),
    impact: t.field({ type: IncidentImpact, description: 'The overall impact.' }),
    message: t.string({ description: 'The first update, in markdown.' }),
    translations: t.field(translationsField.both),
    services: t.field({
      type: [IncidentServiceInput],
      required: false,
      description: 'The affected services and their statuses.',
    }),
    startedAt: t.field({
      type: 'DateTime',
      required: false,
      description: 'When it started, not in the future. Default: now.',
    }),
    resolvedAt: t.field({
      type: 'DateTime',
      required: false,
      description: 'When the incident was resolved, to record a past incident. No subscriber is notified.',
    }),
    notifySubscribers: t.boolean(NOTIFY_SUBSCRIBERS),
    visibility: t.field({
      type: IncidentVisibility,
      required: false,
      description: 'PUBLIC (default), or DRAFT until it is published.',
    }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

builder.mutationField('createIncident', (t) =>
  t.field({
    type: Incident,
    description: 'Creates an incident. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: CreateIncidentInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: createRowResolver('createIncident', createIncident),
  }),
)

const PublishIncidentInput = builder.inputType('PublishIncidentInput', {
  description: 'The draft or suggestion to publish.',
  fields: (t) => ({
    id: t.id({ description: 'The incident to publish.' }),
    notifySubscribers: t.boolean(NOTIFY_SUBSCRIBERS),
  }),
})

builder.mutationField('publishIncident', (t) =>
  t.field({
    type: Incident,
    description:
      'Publishes a draft or a suggestion. If it is resolved, no subscriber is notified. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: PublishIncidentInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: (_root, { input }, ctx) => publishIncident(ctx, input),
  }),
)

builder.mutationField('dismissIncident', (t) =>
  t.field({
    type: deletionPayload('IncidentDraft'),
    description: 'Deletes a draft or a suggestion. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, Conflict] },
    resolve: (_root, { id }, ctx) => dismissIncident(ctx, id),
  }),
)

const UpdateIncidentInput = builder.inputType('UpdateIncidentInput', {
  description: 'The changes. Omitted fields stay as they are.',
  fields: (t) => ({
    id: t.id({ description: 'The incident to change.' }),
    title: t.string({ required: false, description: 'A short title.' }),
    translations: t.field(translationsField.titles),
    impact: t.field({ type: IncidentImpact, required: false, description: 'The overall impact.' }),
    services: t.field({
      type: [IncidentServiceInput],
      required: false,
      description: 'All affected services. Replaces the current list.',
    }),
    startedAt: t.field({ type: 'DateTime', required: false, description: 'When it started, not in the future.' }),
    resolvedAt: t.field({
      type: 'DateTime',
      required: false,
      description: 'When it was resolved, not before its start. Allowed only for a resolved incident.',
    }),
    version: t.int(VERSION_READ),
  }),
})

builder.mutationField('updateIncident', (t) =>
  t.field({
    type: Incident,
    description: 'Updates an incident’s title, impact, services and times. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: UpdateIncidentInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => updateIncident(ctx, input),
  }),
)

const IncidentServicesInput = builder.inputType('IncidentServicesInput', {
  description: 'Changes to the affected services of an incident. Services that are not named stay as they are.',
  fields: (t) => ({
    incidentId: t.id({ description: 'The incident.' }),
    services: t.field({
      type: [IncidentServiceInput],
      required: false,
      description: 'Affected services and their new statuses.',
    }),
    removedServiceIds: t.idList({ required: false, description: 'Services that the incident no longer affects.' }),
    version: t.int(VERSION_READ),
  }),
})

bulkMutation('updateIncidentServices', IncidentServicesInput, {
  type: Incident,
  description: 'Updates the affected services of up to 100 incidents. Requires a key with scope WRITE.',
  errors: [Invalid, NotFound],
  work: updateIncidentServices,
})

const MergeIncidentsInput = builder.inputType('MergeIncidentsInput', {
  description: 'The incidents to merge, both public.',
  fields: (t) => ({
    id: t.id({ description: 'The incident to merge into the other one.' }),
    intoId: t.id({ description: 'The incident that remains.' }),
    message: t.string({
      required: false,
      description:
        'An update to post to the remaining incident, in markdown. Default: none, and no subscriber is notified.',
    }),
    translations: t.field(translationsField.messages),
    notifySubscribers: t.boolean(NOTIFY_SUBSCRIBERS),
  }),
})

builder.mutationField('mergeIncidents', (t) =>
  t.field({
    type: Incident,
    description:
      'Merges an incident into another one, which gets its updates, services and followers. Its page redirects to the other one. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: MergeIncidentsInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => mergeIncidents(ctx, input),
  }),
)

builder.mutationField('deleteIncident', (t) =>
  t.field({
    type: deletionPayload('Incident'),
    description: 'Deletes an incident with its timeline. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => deleteIncident(ctx, id),
  }),
)
