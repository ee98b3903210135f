import { recordedActorName } from '../../account/actor-name.ts'
import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import type { IncidentNote as NoteRow } from '../../generated/prisma/client.ts'
import { ActorKind } from '../../generated/prisma/enums.ts'
import { text } from '../../graphql/document/cost.ts'
import { batchPerOperation, readTogether } from '../../graphql/execution/loader.ts'
import { connectionOfNode, pageArgs } from '../../graphql/list/connection.ts'
import { orderOf, pageOfList } from '../../graphql/list/keyset.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { describedInput } from '../../graphql/schema/described-type.ts'
import { ownerOnly } from '../../graphql/schema/owner-only.ts'
import { VERSION } from '../../graphql/schema/version.ts'
import type { IncidentLead as Lead } from '../incident/incident-lead.ts'
import { leadChoice, readLeads, setIncidentLead } from '../incident/incident-lead.ts'
import {
  createIncidentNote,
  deleteIncidentNote,
  newNote,
  noteEdit,
  readNotes,
  updateIncidentNote,
} from '../incident/incident-note.ts'
import { moveIncidentService, serviceMove } from '../incident/incident-service-move.ts'
import { MAX_MESSAGE_LENGTH } from '../timeline/timeline-limits.ts'
import { builder } from './builder.ts'
import { Incident } from './incident.ts'

/** A private note. */
export const IncidentNote = builder.objectRef<NoteRow>('IncidentNote').implement({
  description: 'A private note in an incident’s timeline. Visible to the organization only.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    incidentId: t.exposeID('incidentId', { description: 'The incident it belongs to.' }),
    message: t.exposeString('message', { description: 'The note, in markdown.', extensions: text(MAX_MESSAGE_LENGTH) }),
    actor: t.expose('actorKind', { type: ActorKind, description: 'The kind of its author.' }),
    authorName: t.string({
      nullable: true,
      description:
        'The name of the person or the API key that wrote it. Null: neither wrote it, or it no longer exists.',
      resolve: (note, _args, ctx) => readTogether(ctx, () => recordedActorName(ctx, note)),
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

const IncidentLead = builder.objectRef<Lead>('IncidentLead').implement({
  description: 'The member who leads the work on an incident. Visible to the organization only.',
  fields: (t) => ({
    userId: t.exposeID('userId', { description: 'The person.' }),
    name: t.exposeString('name', { description: 'The person’s name.' }),
    since: t.expose('since', { type: 'DateTime', description: 'Since when.' }),
  }),
})

const notesOf = batchPerOperation(async ({ db }, ids: readonly string[]) => {
  const notes = await readNotes(db, [...new Set(ids)])
  return ids.map((id) => notes.filter(({ incidentId }) => incidentId === id))
})

const leadOf = batchPerOperation(async ({ db }, ids: readonly string[]) => {
  const leads = await readLeads(db, [...new Set(ids)])
  return ids.map((id) => leads.find(({ incidentId }) => incidentId === id) ?? null)
})

const newestFirst = orderOf('IncidentNote', { createdAt: ['time', 'desc'], id: ['text', 'desc'] })

builder.prismaObjectFields('Incident', (t) => ({
  notes: t.field({
    type: connectionOfNode('IncidentNote', IncidentNote),
    nullable: true,
    authScopes: ownerOnly,
    description: 'Its private notes, newest first, at most 200. Requires a key of the organization.',
    args: pageArgs,
    select: { id: true },
    resolve: async ({ id }, args, ctx) => pageOfList(newestFirst, args, await notesOf(ctx, id)),
  }),
  lead: t.field({
    type: IncidentLead,
    nullable: true,
    authScopes: ownerOnly,
    description: 'The member who leads the work on it. Null: none. Requires a key of the organization.',
    select: { id: true },
    resolve: ({ id }, _args, ctx) => leadOf(ctx, id),
  }),
}))

builder.mutationField('setIncidentLead', (t) =>
  t.field({
    type: Incident,
    description:
      'Makes a member the lead of an incident, or removes the lead. Neither its page nor its version changes. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(leadChoice) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => setIncidentLead(ctx, input),
  }),
)

builder.mutationField('createIncidentNote', (t) =>
  t.field({
    type: IncidentNote,
    description:
      'Adds a private note to an incident: visitors never see it, and no notifications are sent. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(newNote) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => createIncidentNote(ctx, input),
  }),
)

builder.mutationField('updateIncidentNote', (t) =>
  t.field({
    type: IncidentNote,
    description: 'Edits a note. Requires the key or the person that wrote it, or scope ADMIN.',
    args: { input: t.arg({ type: describedInput(noteEdit) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => updateIncidentNote(ctx, input),
  }),
)

builder.mutationField('deleteIncidentNote', (t) =>
  t.field({
    type: deletionPayload('IncidentNote'),
    description: 'Deletes a note. Requires the key or the person that wrote it, or scope ADMIN.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => deleteIncidentNote(ctx, id),
  }),
)

builder.mutationField('moveIncidentService', (t) =>
  t.field({
    type: Incident,
    description:
      'Moves a service with its status from one open incident to another, and returns the other one. Both timelines get an update, and each minute counts once. A draft or a suggestion only loses the service. Returns a ConflictError with code INCIDENT_RESOLVED, SERVICE_NOT_IMPAIRED, or INCIDENT_NOT_PUBLIC: the page would show the service as operational. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(serviceMove) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => moveIncidentService(ctx, input),
  }),
)
