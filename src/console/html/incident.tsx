import { validIdOrEmpty } from '../../core/id.ts'
import type { Incident } from '../../generated/prisma/client.ts'
import type { FormState, SubmittedForm } from '../../http/form.tsx'
import { emptyForm, SelectField, textRules } from '../../http/form.tsx'
import type { Author } from '../../status/authors.ts'
import { readAuthors } from '../../status/authors.ts'
import { findIncident, postIncidentUpdate } from '../../status/incident.ts'
import { previewMessage } from '../../status/message-preview.ts'
import { message as messageText } from '../../status/timeline-limits.ts'
import type { IncidentWithTimeline } from '../../status/timeline-reader.ts'
import { readIncidentTimelines } from '../../status/timeline-reader.ts'
import { IncidentMark, ServiceMark } from '../../status-page/html/status-mark.tsx'
import { Time } from '../../status-page/html/time.tsx'
import { impactLabels, incidentStatusLabels } from '../../status-page/view.ts'
import {
  currentValue,
  EditProblem,
  isOutdated,
  MessageField,
  PreviewButton,
  readTellSubscribers,
  readVersion,
  TellSubscribersField,
  VersionField,
} from './edit-fields.tsx'
import { statusChoices } from './new-incident.tsx'
import type { Screen, Screens } from './screen.tsx'
import type { OfferedService } from './service-fields.tsx'
import { isDraft, readServiceNames, readServiceStatuses, ServiceStatusFields } from './service-fields.tsx'
import { EditableTimeline, OlderUpdates, TIMELINE_BOUNDS } from './timeline-parts.tsx'

const RESOLVED_MESSAGE = 'This incident is resolved.'

/** Adds the page of an incident: its timeline, and the form that posts an update. */
export function incidentScreens({ get, action }: Screens): void {
  get('incidents/:id', (screen) => showIncident(screen, emptyForm, null))
  // The address of a refused update, read again.
  get('incidents/:id/updates', (screen) => screen.c.redirect(screen.path(`incidents/${idIn(screen)}`), 303))
  action('incidents/:id/updates', postUpdate, (screen, state) => showIncident(screen, state, null))
}

/** Returns the id in the address. */
export const idIn = ({ c }: Screen): string => c.req.param('id') ?? ''

/** Returns the update in the address before which a timeline is shown; null: the newest are. */
export function beforeIn({ c }: Screen): string | null {
  const before = c.req.query('before')
  return before === undefined ? null : validIdOrEmpty(before)
}

async function postUpdate(screen: Screen, { fields }: SubmittedForm): Promise<string | Response> {
  const message = fields.get('message') ?? ''
  if (isDraft(fields)) {
    const preview = fields.has('preview') ? await previewMessage(screen.ctx, { message }) : null
    return showIncident(screen, { fields, problem: null }, preview)
  }
  const incidentId = idIn(screen)
  await postIncidentUpdate(screen.ctx, {
    incidentId,
    status: fields.get('status'),
    message,
    services: readServiceStatuses(fields),
    tellSubscribers: readTellSubscribers(fields),
    version: readVersion(fields),
  })
  return `incidents/${incidentId}`
}

async function showIncident(screen: Screen, state: FormState, preview: string | null): Promise<Response> {
  const { ctx, organization } = screen
  const found = await findIncident(ctx, organization.id, idIn(screen))
  const before = beforeIn(screen)
  const [[incident], services] = await Promise.all([
    readIncidentTimelines(ctx.db, [found], { ...TIMELINE_BOUNDS, before }, { serviceIds: null }),
    readServiceNames(screen),
  ])
  const updates = incident?.updates ?? []
  const updateIds = updates.map(({ id }) => id)
  const authors = await readAuthors(ctx.db, organization.id, [found.id], updateIds)
  const content = incident && <WholeIncident {...{ screen, state, preview, incident, services, authors, before }} />
  return screen.show(
    { title: found.title, section: 'incidents', content, actions: <Actions {...{ screen, found }} /> },
    state,
  )
}

function Actions({ screen, found: { id } }: { readonly screen: Screen; readonly found: Incident }) {
  const page = <a href={`/status/${screen.organization.slug}/incidents/${id}`}>On the status page</a>
  if (!screen.may('WRITE')) return page
  return (
    <>
      {page}
      <a class="button quiet" href={screen.path(`incidents/${id}/edit`)}>
        Edit
      </a>
      <a class="button quiet" href={screen.path(`incidents/${id}/delete`)}>
        Delete
      </a>
    </>
  )
}

interface Props {
  readonly screen: Screen
  /** Of the form that `state.fields` names in `form`. */
  readonly state: FormState
  readonly preview: string | null
  readonly incident: IncidentWithTimeline
  readonly services: readonly OfferedService[]
  readonly authors: ReadonlyMap<string, Author>
  /** The update before which the timeline is shown; null: the newest are. */
  readonly before: string | null
}

function WholeIncident({ screen, state, preview, incident, services, authors, before }: Props) {
  const mayPost = screen.may('WRITE') && before === null
  const ofForm = (name: string) => (state.fields.get('form') === name ? state : emptyForm)
  const path = `incidents/${incident.id}`
  const { updates, updateCount } = incident
  return (
    <>
      <Facts {...{ screen, incident, services }} />
      {mayPost ? <UpdateForm {...{ screen, incident, services, preview }} state={ofForm('update')} /> : null}
      {mayPost && incident.status !== 'RESOLVED' ? (
        <ResolveForm {...{ screen, incident }} state={ofForm('resolve')} />
      ) : null}
      <h2>Timeline</h2>
      <EditableTimeline {...{ screen, path, updates, authors }} mark={(status) => <IncidentMark status={status} />} />
      <OlderUpdates
        updates={updates}
        isFirst={before === null}
        isLast={updates.length === updateCount || updates.length < TIMELINE_BOUNDS.updates}
      />
    </>
  )
}

function Facts({ screen, incident, services }: Pick<Props, 'screen' | 'incident' | 'services'>) {
  const { status, impact, startedAt, resolvedAt } = incident
  const names = new Map(services.map(({ id, name }) => [id, name]))
  const more = incident.serviceCount - incident.services.length
  return (
    <>
      <p class="row-facts" id="facts">
        <IncidentMark status={status} /> · {impactLabels[impact]} · since <Time at={startedAt} zone={screen.zone} />
        {resolvedAt === null ? null : (
          <>
            {' until '}
            <Time at={resolvedAt} zone={screen.zone} />
          </>
        )}
      </p>
      {incident.services.length === 0 ? null : (
        <ul class="rows" id="affected">
          {incident.services.map((service) => (
            <li data-status={service.status}>
              <a href={screen.path(`services/${service.serviceId}`)}>{names.get(service.serviceId)}</a>
              <ServiceMark status={service.status} />
            </li>
          ))}
          {more > 0 ? <li>and {more} more</li> : null}
        </ul>
      )}
    </>
  )
}

function UpdateForm({ screen, state, preview, incident, services }: Omit<Props, 'authors' | 'before'>) {
  const { id, status, version } = incident
  return (
    <form method="post" action={screen.path(`incidents/${id}/updates`)} class="stack composer" id="update">
      <h2>{status === 'RESOLVED' ? 'Add to it, or open it again' : 'Post an update'}</h2>
      <EditProblem state={state} version={version} fields={['status', 'message', 'services']} />
      <input type="hidden" name="form" value="update" />
      <VersionField version={version} />
      <SelectField
        label="Status"
        name="status"
        state={state}
        choices={statusChoices}
        value={status}
        hint={currentValue(state, version, { name: 'status', value: status, shown: incidentStatusLabels[status] })}
      />
      <MessageField state={state} preview={preview} />
      <ServiceStatusFields
        state={state}
        services={services}
        chosen={new Map()}
        affected={new Map(incident.services.map((service) => [service.serviceId, service.status]))}
        isOutdated={isOutdated(state, version)}
      />
      <TellSubscribersField state={state} />
      <p class="actions">
        <button type="submit">Post update</button>
        <PreviewButton />
      </p>
    </form>
  )
}

/** One button resolves the incident; its message is ready and can be changed. */
function ResolveForm({ screen, state, incident: { id, version } }: Pick<Props, 'screen' | 'state' | 'incident'>) {
  const message = state.fields.get('message') ?? RESOLVED_MESSAGE
  return (
    <form method="post" action={screen.path(`incidents/${id}/updates`)} class="stack resolve" id="resolve">
      <EditProblem state={state} version={version} fields={[]} />
      <input type="hidden" name="form" value="resolve" />
      <input type="hidden" name="status" value="RESOLVED" />
      <VersionField version={version} />
      <div class="form-field">
        <label for="resolve-message">Message when resolved</label>
        <textarea id="resolve-message" name="message" rows={2} {...textRules(messageText)}>
          {message}
        </textarea>
      </div>
      <TellSubscribersField state={state} />
      <p class="actions">
        <button type="submit" class="quiet">
          Resolve
        </button>
      </p>
    </form>
  )
}
