import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import { IncidentImpact, IncidentStatus, IncidentVisibility, ServiceStatus } from '../../generated/prisma/enums.ts'
import { rows } from '../../graphql/document/cost.ts'
import { cacheable } from '../../graphql/execution/cacheable.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/list/connection.ts'
import { pageOf } from '../../graphql/list/keyset.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { describedInput } from '../../graphql/schema/described-type.ts'
import { createRowResolver } from '../../graphql/schema/idempotent-mutation.ts'
import { ownerOnly } from '../../graphql/schema/owner-only.ts'
import { VERSION } from '../../graphql/schema/version.ts'
import { deleteIncident, incidentEdit, updateIncident } from '../incident/incident-edits.ts'
import { mergeIncidents, merger } from '../incident/incident-merging.ts'
import { createIncident, newIncident } from '../incident/incident-opening.ts'
import { dismissIncident, incidentPublication, publishIncident } from '../incident/incident-publication.ts'
import { servicesEdit, updateIncidentServices } from '../incident/incident-services.ts'
import { MAX_SERVICES } from '../ownership.ts'
import { builder, bulkMutation } from './builder.ts'
import { newestFirst } from './connections.ts'
import { timelineLoader } from './timeline-loader.ts'
import { TitleTranslation, titlesCost, titlesIn } from './translation.ts'

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

builder.mutationField('createIncident', (t) =>
  t.field({
    type: Incident,
    description: 'Creates an incident. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(newIncident, { isCreation: true }) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: createRowResolver('createIncident', createIncident),
  }),
)

builder.mutationField('publishIncident', (t) =>
  t.field({
    type: Incident,
    description:
      'Publishes a draft or a suggestion. If it is resolved, no subscriber is notified. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(incidentPublication) }) },
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

builder.mutationField('updateIncident', (t) =>
  t.field({
    type: Incident,
    description: 'Updates an incident’s title, impact, services and times. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(incidentEdit) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => updateIncident(ctx, input),
  }),
)

bulkMutation('updateIncidentServices', describedInput(servicesEdit), {
  type: Incident,
  description: 'Updates the affected services of up to 100 incidents. Requires a key with scope WRITE.',
  errors: [Invalid, NotFound],
  work: updateIncidentServices,
})

builder.mutationField('mergeIncidents', (t) =>
  t.field({
    type: Incident,
    description:
      'Merges an incident into another one, which gets its updates, services and followers. Its page redirects to the other one. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(merger) }) },
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
