import type { FormState, SubmittedForm } from '../../http/form.tsx'
import { FormProblem, SelectField, TextField, textRules } from '../../http/form.tsx'
import { findIncident } from '../../status/incident.ts'
import { moveIncidentService } from '../../status/incident-service-move.ts'
import { message as messageText } from '../../status/timeline-limits.ts'
import { serviceStatusLabels } from '../../status-page/view.ts'
import { readTellSubscribers, readTime, TellSubscribersField, TimeField } from './edit-fields.tsx'
import type { Screen, Screens } from './screen.tsx'
import { idIn } from './screen.tsx'

/** Incidents that are offered, newest first. */
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
    tellSubscribers: readTellSubscribers(fields),
  })
  return `incidents/${id}`
}

async function showMove(screen: Screen, state: FormState): Promise<Response> {
  const { ctx, organization, zone } = screen
  const { id, title } = await findIncident(ctx, organization.id, idIn(screen))
  const [affected, others] = await Promise.all([
    ctx.db.incidentService.findMany({
      where: { incidentId: id, status: { not: 'OPERATIONAL' } },
      select: { status: true, service: { select: { id: true, name: true } } },
      orderBy: [{ service: { position: 'asc' } }, { serviceId: 'asc' }],
    }),
    ctx.db.incident.findMany({
      where: { organizationId: organization.id, visibility: 'PUBLIC', status: { not: 'RESOLVED' }, id: { not: id } },
      select: { id: true, title: true, startedAt: true },
      orderBy: [{ startedAt: 'desc' }, { id: 'asc' }],
      take: MAX_OFFERED,
    }),
  ])
  const services = affected.map(({ status, service }) => ({
    value: service.id,
    text: `${service.name}: ${serviceStatusLabels[status]}`,
  }))
  const incidents = others.map((each) => ({ value: each.id, text: `${each.title}, ${zone.time(each.startedAt)}` }))
  const back = screen.path(`incidents/${id}`)
  const { required: _, ...rules } = textRules(messageText)
  const content =
    services.length === 0 || incidents.length === 0 ? (
      <p class="lead">
        {services.length === 0 ? 'It impairs no service.' : 'There is no other open incident.'} <a href={back}>Back</a>
      </p>
    ) : (
      <form method="post" class="stack" id="move">
        <FormProblem state={state} fields={['serviceId', 'intoId', 'at', 'message']} />
        <p class="lead">{title}</p>
        <p>Until now this incident speaks of the service, from now on the other one. Each minute counts once.</p>
        <SelectField label="Service" name="serviceId" state={state} choices={services} />
        <SelectField label="To" name="intoId" state={state} choices={incidents} />
        <TimeField
          label="As of"
          name="at"
          state={state}
          zone={zone}
          hint="After the newest update of both. Empty: now."
        />
        <TextField
          label="An update for the other incident"
          name="message"
          state={state}
          rows={3}
          hint="Empty: its timeline has the service without words, and nobody is told."
          {...rules}
        />
        <TellSubscribersField state={state} />
        <p class="actions">
          <button type="submit">Move</button>
          <a href={back}>Cancel</a>
        </p>
      </form>
    )
  return screen.show({ title: 'Move a service to another incident', section: 'incidents', content }, state)
}
