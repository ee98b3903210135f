import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { FormProblem, SelectField, TextField, textRules } from '../../../http/page/form.tsx'
import { findIncident } from '../../../status/incident/incident.ts'
import { mergeIncidents } from '../../../status/incident/incident-merging.ts'
import { listMergeTargets } from '../../../status/incident/incident-queries.ts'
import { message as messageText } from '../../../status/timeline/timeline-limits.ts'
import { NotifySubscribersField, readNotifySubscribers } from '../frame/edit-fields.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'

/** The maximum number of incidents to choose from, newest first. */
const MAX_OFFERED = 50

/** Adds the page that merges an incident into another one. */
export function incidentMergeScreens({ form }: Screens): void {
  form('incidents/:id/merge', showMerge, submitMerge)
}

async function submitMerge(screen: Screen, { fields }: SubmittedForm): Promise<string> {
  const { id } = await mergeIncidents(screen.ctx, {
    id: idIn(screen),
    intoId: fields.get('intoId') ?? '',
    message: fields.get('message')?.trim() || undefined,
    notifySubscribers: readNotifySubscribers(fields),
  })
  return `incidents/${id}`
}

async function showMerge(screen: Screen, state: FormState): Promise<Response> {
  const { ctx, organization, zone } = screen
  const incident = await findIncident(ctx, organization.id, idIn(screen))
  const { id, title } = incident
  const others = await listMergeTargets(ctx, incident, MAX_OFFERED)
  const choices = others.map((each) => ({ value: each.id, text: `${each.title}, ${zone.time(each.startedAt)}` }))
  const { required: _, ...rules } = textRules(messageText)
  const back = screen.path(`incidents/${id}`)
  const content =
    choices.length === 0 ? (
      <p class="lead">
        There is no other incident. <a href={back}>Back</a>
      </p>
    ) : (
      <form method="post" class="stack" id="merge">
        <FormProblem state={state} fields={['intoId', 'message']} />
        <p class="lead">{title}</p>
        <p>
          Its updates, services and followers move to the other incident, and its page redirects there. Each minute of
          an affected service counts once. This cannot be undone.
        </p>
        <SelectField label="Merge into" name="intoId" state={state} choices={choices} />
        <TextField
          label="An update for the other incident"
          name="message"
          state={state}
          value={`“${title}” was merged into this incident.`}
          rows={3}
          hint="Empty: none is posted, and no one is notified."
          {...rules}
        />
        <NotifySubscribersField state={state} />
        <p class="actions">
          <button type="submit">Merge</button>
          <a href={back}>Cancel</a>
        </p>
      </form>
    )
  return screen.show({ title: 'Merge into another incident', section: 'incidents', content }, state)
}
