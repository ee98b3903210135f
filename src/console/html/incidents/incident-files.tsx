import { requireScope } from '../../../core/access.ts'
import { NotFound } from '../../../core/errors.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { FileField, FormProblem, fileIn, InputField } from '../../../http/page/form.tsx'
import { sendFile } from '../../../http/response/send-file.ts'
import { isPicture, MAX_ALT_LENGTH, MAX_FILE_BYTES } from '../../../status/incident/file-content.ts'
import type { FileInfo, PlacedFile } from '../../../status/incident/file-store.ts'
import { findIncidentFile, readFileContent } from '../../../status/incident/file-store.ts'
import { findIncident } from '../../../status/incident/incident.ts'
import { deleteIncidentFile, uploadIncidentFiles } from '../../../status/incident/incident-file.ts'
import type { TimelineFile } from '../../../status/timeline/timeline-reader.ts'
import { Files } from '../../../status-page/html/timeline.tsx'
import { ConfirmDeletion } from '../frame/edit-fields.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import type { FormLimits } from '../frame/screen-routes.tsx'

/** The indexes of the file inputs in a form. */
const PLACES = [0, 1, 2] as const

/** The limits of a form with files. */
export const fileLimits: FormLimits<Screen> = {
  maxBytes: PLACES.length * MAX_FILE_BYTES + 1024 * 1024,
  admit: ({ ctx }) => void requireScope(ctx, 'WRITE'),
}

/** Adds the pages that add files to an update or a note, show one, and delete one. */
export function incidentFileScreens({ get, form }: Screens): void {
  // Before the page of one file, whose path matches any id.
  form('incidents/:id/files/new', showUpload, submitUpload, fileLimits)
  get('incidents/:id/files/:fileId', async (screen) => {
    const { ctx, organization, c } = screen
    const file = await readFileContent(ctx.db, organization.id, c.req.param('fileId') ?? '')
    if (file.incidentId !== idIn(screen)) throw new NotFound('File not found.')
    return sendFile(c, { ...file, isShown: isPicture(file) }, 'private, no-cache')
  })
  form('incidents/:id/files/:fileId/delete', showDeletion, async (screen) => {
    const { id } = await readFile(screen)
    await deleteIncidentFile(screen.ctx, id)
    return back(screen)
  })
}

const back = (screen: Screen) => `incidents/${idIn(screen)}`

async function readFile({ ctx, organization, c }: Screen): Promise<FileInfo> {
  const file = await findIncidentFile(ctx.db, organization.id, c.req.param('fileId') ?? '')
  if (file.incidentId !== c.req.param('id')) throw new NotFound('File not found.')
  return file
}

/** Returns the address of the page that adds files to an update or a note. */
export function addFilesPath(
  screen: Screen,
  incidentId: string,
  to: { readonly updateId: string } | { readonly noteId: string },
): string {
  return screen.path(`incidents/${incidentId}/files/new?${new URLSearchParams(to)}`)
}

async function submitUpload(screen: Screen, form: SubmittedForm): Promise<string> {
  const { updateId, noteId } = screen.c.req.query()
  await uploadIncidentFiles(screen.ctx, { incidentId: idIn(screen), updateId, noteId }, readChosenFiles(form))
  return back(screen)
}

async function showUpload(screen: Screen, state: FormState): Promise<Response> {
  const { title } = await findIncident(screen.ctx, screen.organization.id, idIn(screen))
  const isPrivate = screen.c.req.query('updateId') === undefined
  const content = (
    <form method="post" class="stack" id="add-files" enctype="multipart/form-data">
      <FormProblem state={state} fields={['files']} />
      <p class="lead">{title}</p>
      <FileFields
        state={state}
        hint={isPrivate ? 'Only members see them.' : 'Everyone who sees the update sees them.'}
        isOpen
      />
      <p class="actions">
        <button type="submit">Add files</button>
        <a href={screen.path(back(screen))}>Cancel</a>
      </p>
    </form>
  )
  const name = isPrivate ? 'Add files to a note' : 'Add files to an update'
  return screen.show({ title: name, section: 'incidents', content }, state)
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { name, updateId } = await readFile(screen)
  const content = (
    <ConfirmDeletion state={state} what={name} back={screen.path(back(screen))}>
      <p>{updateId === null ? null : 'Its links in emails and feeds stop working. '}This cannot be undone.</p>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete this file?', section: 'incidents', content }, state)
}

/**
 * Renders the choice of files, and of a description for each. @param prefix of the ids, where the page has two such
 * forms.
 */
export function FileFields({
  state,
  hint,
  prefix = '',
  isOpen = false,
}: {
  readonly state: FormState
  readonly hint: string
  readonly prefix?: string
  readonly isOpen?: boolean
}) {
  const isUsed = PLACES.some((place) =>
    ['content', 'alt', 'content.sent'].some((part) => state.fields.get(`files.${place}.${part}`)),
  )
  return (
    <details class="file-fields" open={isOpen || isUsed}>
      <summary>Files</summary>
      <p class="hint">
        {hint} PNG, JPEG, WebP and GIF are shown as pictures. Up to {MAX_FILE_BYTES / 1024 / 1024} MB each.
      </p>
      {PLACES.map((place) => (
        <div class="file-place">
          <FileField
            id={`${prefix}files.${place}.content`}
            label={`File ${place + 1}`}
            name={`files.${place}.content`}
            state={state}
            maxBytes={MAX_FILE_BYTES}
          />
          <InputField
            id={`${prefix}files.${place}.alt`}
            label="What the picture shows"
            name={`files.${place}.alt`}
            state={state}
            maxlength={MAX_ALT_LENGTH}
            hint="For readers who don’t see it. Required for pictures."
          />
        </div>
      ))}
    </details>
  )
}

/**
 * Reads the selected files of a form.
 * @throws Invalid if one was lost during a sign-in.
 */
export function readChosenFiles(form: SubmittedForm): PlacedFile[] {
  return PLACES.flatMap((place) => {
    const file = fileIn(form, `files.${place}.content`)
    if (file === undefined) return []
    return [{ place, name: file.name, alt: form.fields.get(`files.${place}.alt`), content: file.bytes }]
  })
}

/** Renders the files of an update or a note. */
export function TimelineFiles({
  screen,
  incidentId,
  files,
  mayDelete,
}: {
  readonly screen: Screen
  readonly incidentId: string
  readonly files: readonly TimelineFile[]
  readonly mayDelete: boolean
}) {
  const pathOf = ({ id }: TimelineFile) => screen.path(`incidents/${incidentId}/files/${id}`)
  return (
    <Files
      files={files}
      pathOf={pathOf}
      after={(file) =>
        mayDelete ? (
          <a class="delete-file" href={`${pathOf(file)}/delete`} aria-label={`Delete ${file.name}`}>
            Delete
          </a>
        ) : null
      }
    />
  )
}
