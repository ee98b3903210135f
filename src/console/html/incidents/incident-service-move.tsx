import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { FormProblem, SelectField, TextField, textRules } from '../../../http/page/form.tsx'
import { findIncident } from '../../../status/incident/incident.ts'
import { listImpairedServices, listMoveTargets } from '../../../status/incident/incident-queries.ts'
import { moveIncidentService } from '../../../status/incident/incident-service-move.ts'
import { message as messageText } from '../../../status/timeline/timeline-limits.ts'
import { serviceStatusLabels } from '../../../status-page/view.ts'
import { NotifySubscribersField, readNotifySubscribers, readTime, TimeField } from '../frame/edit-fields.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import { visibilityNames } from './hidden-incident.tsx'

/** The maximum number of incidents to choose from, newest first. */
const MAX_OFFERED = 50

/** Adds the page that moves a service of an incident to another one. */
export function incidentServiceMoveScreens({ form }: Screens): void {
  form('incidents/:id/move', showMove, submitMove)
}

async function submitMove(screen: Screen, { fields }: SubmittedForm): Promise<string> {
  const { id } = await moveIncidentService(screen.ctx, {
    serviceId: fields.get('serviceId') ?? '',
    fromId: idIn(screen),
    intoId: fields.get('intoId') ?? '',
    at: readTime(fields, 'at', screen.zone),
    message: fields.get('message')?.trim() || undefined,
    notifySubscribers: readNotifySubscribers(fields),
  })
  return `incidents/${id}`
}

async function showMove(screen: Screen, state: FormState): Promise<Response> {
  const { ctx, organization, zone } = screen
  const incident = await findIncident(ctx, organization.id, idIn(screen))
  const { id, title, visibility } = incident
  const isPublic = visibility === 'PUBLIC'
  const [affected, others] = await Promise.all([
    listImpairedServices(ctx, id),
    listMoveTargets(ctx, incident, MAX_OFFERED),
  ])
  const services = affected.map(({ status, service }) => ({
    value: service.id,
    text: `${service.name}: ${serviceStatusLabels[status]}`,
  }))
  const incidents = others.map((each) => ({
    value: each.id,
    text: [
      each.title,
      ...(each.visibility === 'PUBLIC' ? [] : [visibilityNames[each.visibility].toLowerCase()]),
      zone.time(each.startedAt),
    ].join(', '),
  }))
  const back = screen.path(`incidents/${id}`)
  const { required: _, ...rules } = textRules(messageText)
  const content =
    services.length === 0 || incidents.length === 0 ? (
      <>
        <FormProblem state={state} fields={[]} />
        <p class="lead">
          {services.length === 0 ? 'It does not impair any service.' : 'There is no other open incident.'}{' '}
          <a href={back}>Back</a>
        </p>
      </>
    ) : (
      <form method="post" class="stack" id="move">
        <FormProblem state={state} fields={['serviceId', 'intoId', 'at', 'message']} />
        <p class="lead">{title}</p>
        <p>
          {isPublic
            ? 'This incident affects the service until now, and the other one from now on. Each minute counts once.'
            : 'Visitors have not seen this incident, so the service is removed from it. From now on, the other one affects it.'}
        </p>
        <SelectField label="Service" name="serviceId" state={state} choices={services} />
        <SelectField label="To" name="intoId" state={state} choices={incidents} />
        <TimeField
          label="As of"
          name="at"
          state={state}
          zone={zone}
          hint={`After the newest update of ${isPublic ? 'both' : 'the other incident'}. Empty: now.`}
        />
        <TextField
          label="An update for the other incident"
          name="message"
          state={state}
          rows={3}
          hint="Empty: an update without text is posted, and no one is notified."
          {...rules}
        />
        <NotifySubscribersField state={state} />
        <p class="actions">
          <button type="submit">Move</button>
          <a href={back}>Cancel</a>
        </p>
      </form>
    )
  return screen.show({ title: 'Move a service to another incident', section: 'incidents', content }, state)
}
