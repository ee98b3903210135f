import { raw } from 'hono/html'
import { NotFound } from '../../../core/errors.ts'
import { htmlOf } from '../../../core/markdown/markdown-rendering.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { FormProblem, TextField, textRules } from '../../../http/page/form.tsx'
import type { FileInfo } from '../../../status/incident/file-store.ts'
import type { NoteWithAuthor } from '../../../status/incident/incident-note.ts'
import {
  createIncidentNote,
  deleteIncidentNote,
  findIncidentNote,
  mayEditNote,
  updateIncidentNote,
} from '../../../status/incident/incident-note.ts'
import { message as messageText } from '../../../status/timeline/timeline-limits.ts'
import { Time } from '../../../status-page/html/time.tsx'
import { ConfirmDeletion, currentValue, EditProblem, readVersion, VersionField } from '../frame/edit-fields.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import { addFilesPath, FileFields, fileLimits, readChosenFiles, TimelineFiles } from './incident-files.tsx'
import { authorName } from './timeline-parts.tsx'

/**
 * Adds the forms that add, edit and delete private notes.
 * @param show shows the incident again if a note is refused.
 */
export function incidentNoteScreens(
  { get, form, action }: Screens,
  show: (screen: Screen, state: FormState) => Promise<Response>,
): void {
  action('incidents/:id/notes', add, show, fileLimits)
  // For a reload after a refused note.
  get('incidents/:id/notes', (screen) => screen.c.redirect(screen.path(back(screen)), 303))
  form('incidents/:id/notes/:noteId', showEdit, async (screen, { fields }) => {
    const { id } = await read(screen)
    await updateIncidentNote(screen.ctx, { id, message: fields.get('message') ?? '', version: readVersion(fields) })
    return back(screen)
  })
  form('incidents/:id/notes/:noteId/delete', showDeletion, async (screen) => {
    const { id } = await read(screen)
    await deleteIncidentNote(screen.ctx, id)
    return back(screen)
  })
}

const back = (screen: Screen) => `incidents/${idIn(screen)}`

async function add(screen: Screen, form: SubmittedForm): Promise<string> {
  const message = form.fields.get('note') ?? ''
  await createIncidentNote(screen.ctx, { incidentId: idIn(screen), message }, readChosenFiles(form))
  return back(screen)
}

async function read(screen: Screen) {
  const note = await findIncidentNote(screen.ctx, screen.organization.id, screen.c.req.param('noteId') ?? '')
  if (note.incidentId !== idIn(screen)) throw new NotFound('Note not found.')
  return note
}

async function showEdit(screen: Screen, state: FormState): Promise<Response> {
  const { incident, message, version } = await read(screen)
  const content = (
    <form method="post" class="stack" id="edit">
      <EditProblem state={state} version={version} fields={['message']} />
      <VersionField state={state} version={version} />
      <TextField
        label="Note"
        name="message"
        state={state}
        value={message}
        rows={8}
        hint={currentValue(state, version, { name: 'message', value: message, hint: ONLY_MEMBERS })}
        {...textRules(messageText)}
      />
      <p class="actions">
        <button type="submit">Save</button>
        <a href={screen.path(back(screen))}>Cancel</a>
      </p>
    </form>
  )
  return screen.show({ title: `Note on ${incident.title}`, section: 'incidents', content }, state)
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { incident, createdAt } = await read(screen)
  const what = `${incident.title}, ${screen.zone.time(createdAt)}`
  const content = (
    <ConfirmDeletion state={state} what={what} back={screen.path(back(screen))}>
      <p>The note and its files are deleted. This cannot be undone.</p>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete this note?', section: 'incidents', content }, state)
}

const ONLY_MEMBERS = 'Markdown. Only members see it; no notification is sent.'

/** Renders the form that adds a private note. */
export function NoteForm({
  screen,
  state,
  incidentId,
}: {
  readonly screen: Screen
  readonly state: FormState
  readonly incidentId: string
}) {
  return (
    <form
      method="post"
      action={screen.path(`incidents/${incidentId}/notes`)}
      class="stack resolve"
      id="note-form"
      enctype="multipart/form-data"
    >
      <FormProblem state={state} fields={['note', 'files']} />
      <input type="hidden" name="form" value="note" />
      <TextField
        label="Private note"
        name="note"
        state={state}
        rows={3}
        hint={ONLY_MEMBERS}
        {...textRules(messageText)}
      />
      <FileFields state={state} prefix="note-" hint="Only members see them." />
      <p class="actions">
        <button type="submit" class="quiet">
          Add note
        </button>
      </p>
    </form>
  )
}

/** Renders a note in the timeline. @param files of the note. */
export function Note({
  screen,
  note,
  files,
}: {
  readonly screen: Screen
  readonly note: NoteWithAuthor
  readonly files: readonly FileInfo[]
}) {
  const mayEdit = mayEditNote(screen.ctx.actor, note)
  const path = screen.path(`incidents/${note.incidentId}/notes/${note.id}`)
  return (
    <li id={note.id} class="private-note">
      <p class="meta">
        <strong>Private note</strong> · {authorName(note.author)} · <Time at={note.createdAt} zone={screen.zone} />
        {note.editedAt === null ? null : (
          <>
            {' · edited '}
            <Time at={note.editedAt} zone={screen.zone} />
          </>
        )}
      </p>
      <div class="prose" dir="auto">
        {raw(htmlOf(note))}
      </div>
      <TimelineFiles screen={screen} incidentId={note.incidentId} files={files} mayDelete={mayEdit} />
      {mayEdit ? (
        <p class="update-actions">
          <a href={path}>Edit</a>
          <a href={addFilesPath(screen, note.incidentId, { noteId: note.id })}>Add files</a>
          <a href={`${path}/delete`}>Delete</a>
        </p>
      ) : null}
    </li>
  )
}
