import { NotFound } from '../../../core/errors.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { SelectField } from '../../../http/page/form.tsx'
import { findIncident } from '../../../status/incident/incident.ts'
import { deleteIncident, incidentEdit, updateIncident } from '../../../status/incident/incident-edits.ts'
import {
  countUpdates,
  deleteIncidentUpdate,
  editIncidentUpdate,
  findIncidentUpdate,
} from '../../../status/incident/incident-updates.ts'
import { impactLabels } from '../../../status-page/view.ts'
import { DescribedTexts, readTexts, textNames } from '../frame/described-texts.tsx'
import {
  ConfirmDeletion,
  currentTime,
  currentValue,
  EditProblem,
  readTime,
  readVersion,
  TimeField,
  VersionField,
} from '../frame/edit-fields.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import { readTranslations, TRANSLATIONS, TranslationFields } from '../frame/translation-fields.tsx'
import { impactChoices } from './new-incident.tsx'
import { updateScreens } from './update-screens.tsx'

/** Adds the pages that edit and delete an incident and its updates. */
export function incidentEditScreens(screens: Screens): void {
  const { form } = screens
  form('incidents/:id/edit', showEdit, submitEdit)
  form('incidents/:id/delete', showDeletion, async (screen) => {
    await deleteIncident(screen.ctx, idIn(screen))
    return 'incidents'
  })
  updateScreens(screens, {
    section: 'incidents',
    read: readUpdate,
    edit: editIncidentUpdate,
    delete: deleteIncidentUpdate,
    afterDeletion: 'The incident then gets the status of its newest remaining update.',
  })
}

const read = (screen: Screen) => findIncident(screen.ctx, screen.organization.id, idIn(screen))

async function showEdit(screen: Screen, state: FormState): Promise<Response> {
  const { zone } = screen
  const incident = await read(screen)
  const { titles, impact, startedAt, resolvedAt, version } = incident
  const at = (name: string, time: Date) => currentTime(state, version, zone, name, time)
  const content = (
    <form method="post" class="stack" id="edit">
      <EditProblem
        state={state}
        version={version}
        fields={[...textNames(incidentEdit), 'impact', 'startedAt', 'resolvedAt', TRANSLATIONS]}
      />
      <VersionField state={state} version={version} />
      <DescribedTexts schema={incidentEdit} state={state} stored={incident} />
      <TranslationFields {...{ screen, state, titles, version }} texts={['title']} />
      <SelectField
        label="Impact"
        name="impact"
        state={state}
        choices={impactChoices}
        value={impact}
        hint={currentValue(state, version, { name: 'impact', value: impact, shown: impactLabels[impact] })}
      />
      <TimeField
        label="Began"
        name="startedAt"
        state={state}
        zone={zone}
        at={startedAt}
        hint={at('startedAt', startedAt)}
      />
      {resolvedAt === null ? null : (
        <TimeField
          label="Resolved"
          name="resolvedAt"
          state={state}
          zone={zone}
          at={resolvedAt}
          hint={at('resolvedAt', resolvedAt)}
        />
      )}
      <p class="actions">
        <button type="submit">Save</button>
        <a href={screen.path(`incidents/${idIn(screen)}`)}>Cancel</a>
      </p>
    </form>
  )
  return screen.show({ title: 'Edit the incident', section: 'incidents', content }, state)
}

async function submitEdit(screen: Screen, { fields }: SubmittedForm): Promise<string> {
  const { zone } = screen
  const id = idIn(screen)
  const { startedAt, resolvedAt } = await read(screen)
  await updateIncident(screen.ctx, {
    id,
    ...readTexts(incidentEdit, fields),
    translations: readTranslations(fields),
    impact: fields.get('impact') ?? undefined,
    startedAt: readTime(fields, 'startedAt', zone, startedAt),
    resolvedAt: readTime(fields, 'resolvedAt', zone, resolvedAt),
    version: readVersion(fields),
  })
  return `incidents/${id}`
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { id, title } = await read(screen)
  const updates = await countUpdates(screen.ctx, id)
  const content = (
    <ConfirmDeletion state={state} what={title} back={screen.path(`incidents/${id}`)}>
      <p>
        Its {updates === 1 ? 'update is' : `${updates} updates are`} deleted too, from the status page, its history and
        its feeds. Subscribers are not notified. This cannot be undone.
      </p>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete this incident?', section: 'incidents', content }, state)
}

async function readUpdate(screen: Screen, id: string) {
  const update = await findIncidentUpdate(screen.ctx, screen.organization.id, id)
  if (update.incidentId !== idIn(screen)) throw new NotFound('Incident update not found.')
  return { ...update, of: update.incident }
}
