import { raw } from 'hono/html'
import { htmlOf } from '../../../core/markdown/markdown-rendering.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { Time } from '../../../status-page/html/time.tsx'
import type { ConsoleContext } from '../frame/context.ts'
import {
  ConfirmDeletion,
  currentTime,
  currentValue,
  EditProblem,
  MessageField,
  readTime,
  readVersion,
  TimeField,
  VersionField,
} from '../frame/edit-fields.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import { readTranslations, TRANSLATIONS, TranslationFields } from '../frame/translation-fields.tsx'

/** An update of an incident or a maintenance. */
interface EditedUpdate {
  readonly id: string
  readonly message: string
  readonly html: string | null
  readonly translations: Prisma.JsonValue
  readonly createdAt: Date
  readonly version: number
  /** The incident or maintenance. */
  readonly of: { readonly id: string; readonly title: string }
}

/** The differences between the updates of incidents and those of maintenance. */
interface UpdateKind {
  /** The section of the console, and its address. */
  readonly section: 'incidents' | 'maintenance'
  /** @throws NotFound when it has no update with this id. */
  read(screen: Screen, id: string): Promise<EditedUpdate>
  edit(ctx: ConsoleContext, input: unknown): Promise<unknown>
  delete(ctx: ConsoleContext, id: string): Promise<unknown>
  /** One sentence: the effect of a deletion on the incident or maintenance. */
  readonly afterDeletion: string
}

/** Adds the pages that edit and delete single updates. */
export function updateScreens({ form }: Screens, kind: UpdateKind): void {
  const { section } = kind
  const back = (screen: Screen) => `${section}/${idIn(screen)}`
  const read = (screen: Screen) => kind.read(screen, updateIdIn(screen))
  const address = `${section}/:id/updates/:updateId` as const
  form(
    address,
    async (screen, state) => showUpdate(screen, state, await read(screen), section),
    async (screen, { fields }) => {
      await kind.edit(screen.ctx, editOf(screen, fields, await read(screen)))
      return back(screen)
    },
  )
  form(
    `${address}/delete`,
    async (screen, state) => showDeletion(screen, state, await read(screen), kind),
    async (screen) => {
      await kind.delete(screen.ctx, updateIdIn(screen))
      return back(screen)
    },
  )
}

const updateIdIn = ({ c }: Screen): string => c.req.param('updateId') ?? ''

const editOf = ({ zone }: Screen, fields: SubmittedForm['fields'], { id, createdAt }: EditedUpdate) => ({
  id,
  message: fields.get('message') ?? undefined,
  translations: readTranslations(fields),
  createdAt: readTime(fields, 'createdAt', zone, createdAt),
  version: readVersion(fields),
})

/** Shows an update in a form that edits it; for viewers, only its text. */
function showUpdate(screen: Screen, state: FormState, update: EditedUpdate, section: UpdateKind['section']): Response {
  const { of } = update
  const content = screen.may('WRITE') ? (
    <UpdateEdit {...{ screen, state, update }} back={screen.path(`${section}/${of.id}`)} />
  ) : (
    <>
      <p class="row-facts">
        <Time at={update.createdAt} zone={screen.zone} />
      </p>
      <div class="prose" dir="auto">
        {raw(htmlOf(update))}
      </div>
    </>
  )
  return screen.show({ title: `Update of ${of.title}`, section, content }, state)
}

function showDeletion(
  screen: Screen,
  state: FormState,
  { of, createdAt }: EditedUpdate,
  { section, afterDeletion }: UpdateKind,
): Response {
  const what = `${of.title}, ${screen.zone.time(createdAt)}`
  const content = (
    <ConfirmDeletion state={state} what={what} back={screen.path(`${section}/${of.id}`)}>
      <p>{afterDeletion} This cannot be undone.</p>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete this update?', section, content }, state)
}

function UpdateEdit({
  screen,
  state,
  update: { message, translations, createdAt, version },
  back,
}: {
  readonly screen: Screen
  readonly state: FormState
  readonly update: EditedUpdate
  readonly back: string
}) {
  const { zone } = screen
  return (
    <form method="post" class="stack" id="edit">
      <EditProblem state={state} version={version} fields={['message', 'createdAt', TRANSLATIONS]} />
      <VersionField state={state} version={version} />
      <MessageField
        state={state}
        preview={null}
        value={message}
        rows={8}
        hint={currentValue(state, version, { name: 'message', value: message })}
      />
      <TranslationFields {...{ screen, state, version }} texts={['message']} messages={translations} />
      <TimeField
        label="Time"
        name="createdAt"
        state={state}
        zone={zone}
        at={createdAt}
        hint={currentTime(state, version, zone, 'createdAt', createdAt)}
      />
      <p class="actions">
        <button type="submit">Save</button>
        <a href={back}>Cancel</a>
      </p>
    </form>
  )
}
