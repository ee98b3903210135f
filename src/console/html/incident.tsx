import { validIdOrEmpty } from '../../core/id.ts'
import type { Incident, Postmortem } from '../../generated/prisma/client.ts'
import type { FormState, SubmittedForm } from '../../http/form.tsx'
import { emptyForm, FormProblem, SelectField, TextField, textRules } from '../../http/form.tsx'
import type { Author } from '../../status/authors.ts'
import { readAuthors } from '../../status/authors.ts'
import { dismissIncident, findIncident, postIncidentUpdate, publishIncident } from '../../status/incident.ts'
import type { MessagePreview } from '../../status/message-preview.ts'
import { previewMessage } from '../../status/message-preview.ts'
import { readPostmortem } from '../../status/postmortem.ts'
import type { Template } from '../../status/template.ts'
import { message as messageText } from '../../status/timeline-limits.ts'
import type { IncidentWithTimeline } from '../../status/timeline-reader.ts'
import { readIncidentTimelines } from '../../status/timeline-reader.ts'
import { IncidentMark, ServiceMark } from '../../status-page/html/status-mark.tsx'
import { Time } from '../../status-page/html/time.tsx'
import { impactLabels, incidentStatusLabels } from '../../status-page/view.ts'
import {
  CurrentValue,
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
import { PublicationButtons } from './hidden-incident.tsx'
import { statusChoices } from './new-incident.tsx'
import { PostmortemPart } from './postmortem.tsx'
import type { Screen, Screens } from './screen.tsx'
import { idIn } from './screen.tsx'
import type { OfferedService } from './service-fields.tsx'
import { isDraft, readServiceNames, readServiceStatuses, ServiceStatusFields, usesTemplate } from './service-fields.tsx'
import { offeredTemplates, requireFilledIn, TemplateChoice, withTemplate } from './template-choice.tsx'
import { EditableTimeline, OlderUpdates, TIMELINE_BOUNDS } from './timeline-parts.tsx'
import { readTranslations, TRANSLATIONS, TranslationFields } from './translation-fields.tsx'

/** What is said of incidents that only the organization sees. */
const visibilityTexts = {
  DRAFT: 'A draft: only members see it.',
  SUGGESTED: 'Suggested by an alert: only members see it.',
  MERGED: 'It became part of another incident, which has its updates.',
} as const

const RESOLVED_MESSAGE = 'This incident is resolved.'

/** Adds the page of an incident: its timeline, and the form that posts an update. */
export function incidentScreens({ get, action }: Screens): void {
  get('incidents/:id', (screen) => showIncident(screen, emptyForm, null))
  // The address of a refused update, read again.
  get('incidents/:id/updates', (screen) => screen.c.redirect(screen.path(`incidents/${idIn(screen)}`), 303))
  const show = (screen: Screen, state: FormState) => showIncident(screen, state, null)
  action('incidents/:id/updates', postUpdate, show)
  action('incidents/:id/publish', publish, show)
  action('incidents/:id/dismiss', dismiss, show)
}

async function publish(screen: Screen, { fields }: SubmittedForm): Promise<string> {
  const id = idIn(screen)
  await publishIncident(screen.ctx, { id, tellSubscribers: fields.get('tellSubscribers') === 'true' })
  return `incidents/${id}`
}

async function dismiss(screen: Screen): Promise<string> {
  await dismissIncident(screen.ctx, idIn(screen))
  return 'now'
}

/** Returns the update in the address before which a timeline is shown; null: the newest are. */
export function beforeIn({ c }: Screen): string | null {
  const before = c.req.query('before')
  return before === undefined ? null : validIdOrEmpty(before)
}

async function postUpdate(screen: Screen, { fields }: SubmittedForm): Promise<string | Response> {
  const incidentId = idIn(screen)
  if (usesTemplate(fields)) {
    const filled = await withTemplate(screen, 'UPDATE', fields, { incidentId })
    return showIncident(screen, { fields: filled, problem: null }, null)
  }
  const message = fields.get('message') ?? ''
  if (isDraft(fields)) {
    const preview = fields.has('preview')
      ? await previewMessage(screen.ctx, { message, translations: readTranslations(fields) })
      : null
    return showIncident(screen, { fields, problem: null }, preview)
  }
  requireFilledIn(fields)
  await postIncidentUpdate(screen.ctx, {
    incidentId,
    status: fields.get('status'),
    message,
    translations: readTranslations(fields),
    services: readServiceStatuses(fields),
    tellSubscribers: readTellSubscribers(fields),
    version: readVersion(fields),
  })
  return `incidents/${incidentId}`
}

async function showIncident(screen: Screen, state: FormState, preview: MessagePreview | null): Promise<Response> {
  const { ctx, organization } = screen
  const found = await findIncident(ctx, organization.id, idIn(screen))
  const before = beforeIn(screen)
  const [[incident], services, templates, postmortem] = await Promise.all([
    readIncidentTimelines(ctx.db, [found], { ...TIMELINE_BOUNDS, before }, { serviceIds: null }),
    readServiceNames(screen),
    offeredTemplates(screen, 'UPDATE'),
    readPostmortem(ctx, found),
  ])
  const updates = incident?.updates ?? []
  const updateIds = updates.map(({ id }) => id)
  const authors = await readAuthors(ctx.db, organization.id, [found.id], updateIds)
  const content = incident && (
    <WholeIncident {...{ screen, state, preview, incident, postmortem, services, templates, authors, before }} />
  )
  return screen.show(
    { title: found.title, section: 'incidents', content, actions: <Actions {...{ screen, found }} /> },
    state,
  )
}

function Actions({ screen, found: { id, visibility } }: { readonly screen: Screen; readonly found: Incident }) {
  const path = `/status/${screen.organization.slug}/incidents/${id}`
  const page = visibility === 'PUBLIC' ? <a href={path}>On the status page</a> : null
  if (!screen.may('WRITE')) return page
  return (
    <>
      {page}
      {visibility === 'PUBLIC' ? (
        <a class="button quiet" href={screen.path(`incidents/${id}/merge`)}>
          Merge
        </a>
      ) : null}
      {visibility === 'MERGED' ? null : (
        <a class="button quiet" href={screen.path(`incidents/${id}/edit`)}>
          Edit
        </a>
      )}
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
  readonly preview: MessagePreview | null
  readonly incident: IncidentWithTimeline
  /** null: there is none. */
  readonly postmortem: Postmortem | null
  readonly services: readonly OfferedService[]
  /** For updates. */
  readonly templates: readonly Template[]
  readonly authors: ReadonlyMap<string, Author>
  /** The update before which the timeline is shown; null: the newest are. */
  readonly before: string | null
}

function WholeIncident(props: Props) {
  const { screen, state, preview, incident, postmortem, services, templates, authors, before } = props
  const mayPost = screen.may('WRITE') && before === null && incident.visibility !== 'MERGED'
  const ofForm = (...names: string[]) => (names.includes(state.fields.get('form') ?? '') ? state : emptyForm)
  const isResolved = incident.status === 'RESOLVED'
  // What was typed to resolve it, when somebody else has done so meanwhile, can still be posted.
  const ofUpdate = isResolved ? ofForm('update', 'resolve') : ofForm('update')
  const path = `incidents/${incident.id}`
  const { updates, updateCount } = incident
  return (
    <>
      <FormProblem state={mayPost ? ofForm('') : state} />
      <Facts {...{ screen, incident, services }} />
      {incident.visibility === 'PUBLIC' ? null : <p>{visibilityTexts[incident.visibility]}</p>}
      {incident.mergedIntoId === null ? null : (
        <p>
          <a href={screen.path(`incidents/${incident.mergedIntoId}`)}>The incident that it became part of</a>
        </p>
      )}
      <PublicationButtons {...{ screen, incident }} />
      {mayPost ? <UpdateForm {...{ screen, incident, services, templates, preview }} state={ofUpdate} /> : null}
      {mayPost && !isResolved ? <ResolveForm {...{ screen, incident }} state={ofForm('resolve')} /> : null}
      {before === null ? <PostmortemPart {...{ screen, incident, postmortem }} /> : null}
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

function UpdateForm({
  screen,
  state,
  preview,
  incident,
  services,
  templates,
}: Omit<Props, 'authors' | 'before' | 'postmortem'>) {
  const { id, status, version } = incident
  return (
    <form method="post" action={screen.path(`incidents/${id}/updates`)} class="stack composer" id="update">
      <h2>{status === 'RESOLVED' ? 'Add to it, or open it again' : 'Post an update'}</h2>
      <EditProblem state={state} version={version} fields={['status', 'message', 'services', TRANSLATIONS]} />
      <input type="hidden" name="form" value="update" />
      <VersionField state={state} version={version} />
      <TemplateChoice {...{ screen, state, templates }} />
      <SelectField
        label="Status"
        name="status"
        state={state}
        choices={statusChoices}
        value={status}
        hint={currentValue(state, version, { name: 'status', value: status, shown: incidentStatusLabels[status] })}
      />
      <MessageField state={state} preview={preview} />
      <TranslationFields {...{ screen, state, version }} texts={['title', 'message']} titles={incident.titles} />
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
function ResolveForm({
  screen,
  state,
  incident: { id, version, status },
}: Pick<Props, 'screen' | 'state' | 'incident'>) {
  return (
    <form method="post" action={screen.path(`incidents/${id}/updates`)} class="stack resolve" id="resolve">
      <EditProblem state={state} version={version} fields={['message', TRANSLATIONS]} />
      <input type="hidden" name="form" value="resolve" />
      <input type="hidden" name="status" value="RESOLVED" />
      <VersionField state={state} version={version} />
      {isOutdated(state, version) ? (
        <p class="hint">
          <CurrentValue>{incidentStatusLabels[status]}</CurrentValue>
        </p>
      ) : null}
      <TextField
        id="resolve-message"
        label="Message when resolved"
        name="message"
        state={state}
        value={RESOLVED_MESSAGE}
        rows={2}
        {...textRules(messageText)}
      />
      <TranslationFields {...{ screen, state, version }} texts={['message']} prefix="resolve-" />
      <TellSubscribersField state={state} />
      <p class="actions">
        <button type="submit" class="quiet">
          Resolve
        </button>
      </p>
    </form>
  )
}
