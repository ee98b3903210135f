import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import { IncidentStatus, ServiceStatus } from '../../generated/prisma/enums.ts'
import { rows, text } from '../../graphql/document/cost.ts'
import { cacheable } from '../../graphql/execution/cacheable.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { describedInput } from '../../graphql/schema/described-type.ts'
import { createRowResolver } from '../../graphql/schema/idempotent-mutation.ts'
import { VERSION } from '../../graphql/schema/version.ts'
import {
  deleteIncidentUpdate,
  editIncidentUpdate,
  postIncidentUpdate,
  updateInput,
} from '../incident/incident-updates.ts'
import { MAX_SERVICES } from '../ownership.ts'
import { MAX_MESSAGE_LENGTH } from '../timeline/timeline-limits.ts'
import { incidentUpdateEdit } from '../timeline/update-edit.ts'
import { builder } from './builder.ts'
import { MessageTranslation, messagesCost, messagesIn } from './translation.ts'

builder.prismaObject('IncidentUpdateService', {
  description: 'A service status set by an incident update.',
  extensions: cacheable('service', 'status'),
  fields: (t) => ({
    service: t.relation('service', { description: 'The service.' }),
    status: t.expose('status', { type: ServiceStatus, description: 'The status that the update sets.' }),
  }),
})

const IncidentUpdate = builder.prismaNode('IncidentUpdate', {
  id: { field: 'id' },
  nullable: true,
  description: 'An update in an incident’s timeline.',
  extensions: cacheable('id', 'incidentId', 'status', 'message', 'translations', 'createdAt', 'editedAt', 'services'),
  fields: (t) => ({
    incidentId: t.exposeID('incidentId', { description: 'The incident it belongs to.' }),
    status: t.expose('status', { type: IncidentStatus, description: 'The incident’s status as of this update.' }),
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
    services: t.relation('services', {
      extensions: rows(MAX_SERVICES, 'servicesOfUpdate'),
      description: 'The service statuses that the update sets, in page order.',
      query: { orderBy: [{ service: { position: 'asc' } }, { serviceId: 'asc' }] },
    }),
    version: t.exposeInt('version', VERSION),
  }),
})

builder.mutationField('postIncidentUpdate', (t) =>
  t.field({
    type: IncidentUpdate,
    description:
      'Posts an update to an incident. A timeline holds 500 updates, plus a final one. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(updateInput, { isCreation: true }) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: createRowResolver('postIncidentUpdate', postIncidentUpdate),
  }),
)

builder.mutationField('editIncidentUpdate', (t) =>
  t.field({
    type: IncidentUpdate,
    description: 'Edits an incident update without notifying subscribers. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(incidentUpdateEdit) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => editIncidentUpdate(ctx, input),
  }),
)

builder.mutationField('deleteIncidentUpdate', (t) =>
  t.field({
    type: deletionPayload('IncidentUpdate'),
    description:
      'Deletes an incident update. The incident takes the status of the newest remaining update. The only update cannot be deleted. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { id }, ctx) => deleteIncidentUpdate(ctx, id),
  }),
)
