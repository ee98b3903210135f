import { NotFound } from '../../core/errors.ts'
import { rows } from '../../graphql/document/cost.ts'
import { batchPerOperation } from '../../graphql/execution/loader.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { ownerOnly } from '../../graphql/schema/owner-only.ts'
import { filePath } from '../incident/file-path.ts'
import type { FileInfo } from '../incident/file-store.ts'
import { MAX_FILES, MAX_INCIDENT_FILES, readFiles, readUpdateFiles } from '../incident/file-store.ts'
import { deleteIncidentFile } from '../incident/incident-file.ts'
import { builder } from './builder.ts'
import { IncidentNote } from './incident-work.ts'

const IncidentFile = builder.objectRef<FileInfo>('IncidentFile').implement({
  description: 'A file in the timeline of an incident. The file of an update is as public as the update.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    updateId: t.exposeID('updateId', { nullable: true, description: 'The update that it belongs to. Null: none.' }),
    noteId: t.exposeID('noteId', { nullable: true, description: 'The note that it belongs to. Null: none.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    type: t.exposeString('type', { description: 'The media type found in its content.' }),
    size: t.exposeInt('size', { description: 'Its size in bytes.' }),
    alt: t.exposeString('alt', { description: 'What a picture shows. Empty for other files.' }),
    width: t.exposeInt('width', {
      nullable: true,
      description: 'The width of a picture in pixels. Null: pages offer the file as a download.',
    }),
    height: t.exposeInt('height', { nullable: true, description: 'The height of a picture in pixels.' }),
    path: t.string({
      nullable: true,
      description:
        'The path below the address of a status page that shows the incident, such as /files/fil_…. Null: only members see the file.',
      resolve: ({ id, updateId }) => (updateId === null ? null : `/files/${id}`),
    }),
    url: t.string({
      description: 'The REST URL. Requires a key of the organization.',
      resolve: (file, _args, { site }) => site.baseUrl + filePath(file),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

const filesOf = batchPerOperation(async ({ db }, ids: readonly string[]) => {
  const files = await readFiles(db, [...new Set(ids)])
  return ids.map((id) => files.filter(({ incidentId }) => incidentId === id))
})

const filesOfUpdate = batchPerOperation(async ({ db }, ids: readonly string[]) => {
  const files = await readUpdateFiles(db, [...new Set(ids)])
  return ids.map((id) => files.filter(({ updateId }) => updateId === id))
})

builder.prismaObjectField('Incident', 'files', (t) =>
  t.field({
    type: [IncidentFile],
    nullable: true,
    authScopes: ownerOnly,
    extensions: rows(MAX_INCIDENT_FILES, 'filesOfIncident'),
    description:
      'All files in its timeline, oldest first: those of updates and notes, and those that belong to neither yet. Requires a key of the organization.',
    select: { id: true },
    resolve: ({ id }, _args, ctx) => filesOf(ctx, id),
  }),
)

builder.prismaObjectField('IncidentUpdate', 'files', (t) =>
  t.field({
    type: [IncidentFile],
    extensions: rows(MAX_FILES, 'filesOfItem'),
    description: 'Its files, oldest first.',
    select: { id: true },
    resolve: ({ id }, _args, ctx) => filesOfUpdate(ctx, id),
  }),
)

builder.objectFields(IncidentNote, (t) => ({
  files: t.field({
    type: [IncidentFile],
    extensions: rows(MAX_FILES, 'filesOfItem'),
    description: 'Its files, oldest first.',
    resolve: async ({ id, incidentId }, _args, ctx) =>
      (await filesOf(ctx, incidentId)).filter(({ noteId }) => noteId === id),
  }),
}))

builder.mutationField('deleteIncidentFile', (t) =>
  t.field({
    type: deletionPayload('IncidentFile'),
    description: 'Deletes a file. Requires a key with scope WRITE; for the file of a note, its author or scope ADMIN.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => deleteIncidentFile(ctx, id),
  }),
)
