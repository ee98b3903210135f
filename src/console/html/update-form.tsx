import { raw } from 'hono/html'
import { htmlOf } from '../../core/markdown-rendering.ts'
import type { FormState } from '../../http/form.tsx'
import { Time } from '../../status-page/html/time.tsx'
import { currentValue, EditProblem, isOutdated, MessageField, TimeField, VersionField } from './edit-fields.tsx'
import type { Screen } from './screen.tsx'

/** An update of an incident or a maintenance. */
interface EditedUpdate {
  readonly message: string
  readonly html: string | null
  readonly createdAt: Date
  readonly version: number
  /** The incident or maintenance. */
  readonly of: { readonly id: string; readonly title: string }
}

/** Returns the id of the update in the address. */
export const updateIdIn = ({ c }: Screen): string => c.req.param('updateId') ?? ''

/** Shows an update in a form that edits it; to who may not, only its text. */
export function showUpdate(
  screen: Screen,
  state: FormState,
  update: EditedUpdate,
  section: 'incidents' | 'maintenance',
): Response {
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

function UpdateEdit({
  screen,
  state,
  update: { message, createdAt, version },
  back,
}: {
  readonly screen: Screen
  readonly state: FormState
  readonly update: EditedUpdate
  readonly back: string
}) {
  const { zone } = screen
  const outdated = isOutdated(state, version)
  return (
    <form method="post" class="stack" id="edit">
      <EditProblem state={state} version={version} fields={['message', 'createdAt']} />
      <VersionField version={version} />
      <MessageField
        state={state}
        preview={null}
        value={message}
        rows={8}
        hint={currentValue(state, version, { name: 'message', value: message })}
      />
      <TimeField
        label="Time"
        name="createdAt"
        state={state}
        zone={zone}
        at={createdAt}
        hint={outdated ? <>Now: {zone.time(createdAt)}</> : `In the zone ${zone.name}.`}
      />
      <p class="actions">
        <button type="submit">Save</button>
        <a href={back}>Cancel</a>
      </p>
    </form>
  )
}
