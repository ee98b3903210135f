import type { AlertedChannel } from '../../../alerting/alerted-channels.ts'
import { readAlertedChannels } from '../../../alerting/alerted-channels.ts'
import { validIdOrEmpty } from '../../../core/id.ts'
import type { Incident, Postmortem } from '../../../generated/prisma/client.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem } from '../../../http/page/form.tsx'
import type { UpdateAudience } from '../../../notification/delivery/update-audience.ts'
import { readUpdateAudiences } from '../../../notification/delivery/update-audience.ts'
import type { FileInfo } from '../../../status/incident/file-store.ts'
import { readFiles } from '../../../status/incident/file-store.ts'
import { findIncident } from '../../../status/incident/incident.ts'
import type { Candidate, IncidentLead } from '../../../status/incident/incident-lead.ts'
import { readCandidates, readLeads } from '../../../status/incident/incident-lead.ts'
import type { NoteWithAuthor } from '../../../status/incident/incident-note.ts'
import { readNotes } from '../../../status/incident/incident-note.ts'
import { dismissIncident, publishIncident } from '../../../status/incident/incident-publication.ts'
import { readUpdateTime } from '../../../status/incident/incident-queries.ts'
import { postIncidentUpdate } from '../../../status/incident/incident-updates.ts'
import { readPostmortem } from '../../../status/incident/postmortem.ts'
import type { ReviewerNames } from '../../../status/incident/postmortem-review.ts'
import { readReviewers } from '../../../status/incident/postmortem-review.ts'
import type { Template } from '../../../status/template/template.ts'
import type { Author } from '../../../status/timeline/authors.ts'
import { readAuthors } from '../../../status/timeline/authors.ts'
import type { MessagePreview } from '../../../status/timeline/message-preview.ts'
import { previewMessage } from '../../../status/timeline/message-preview.ts'
import type { IncidentWithTimeline } from '../../../status/timeline/timeline-reader.ts'
import { readIncidentTimelines } from '../../../status/timeline/timeline-reader.ts'
import { IncidentMark, ServiceMark } from '../../../status-page/html/status-mark.tsx'
import { Time } from '../../../status-page/html/time.tsx'
import { impactLabels } from '../../../status-page/view.ts'
import { readNotifySubscribers, readVersion } from '../frame/edit-fields.tsx'
import type { OfferedService } from '../frame/offered-service.ts'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import { readTranslations } from '../frame/translation-fields.tsx'
import { isDraft, readServiceNames, readServiceStatuses, usesTemplate } from '../services/service-fields.tsx'
import { PublicationButtons } from './hidden-incident.tsx'
import { Alerted, Audience } from './incident-audience.tsx'
import { addFilesPath, fileLimits, incidentFileScreens, readChosenFiles, TimelineFiles } from './incident-files.tsx'
import { ResolveForm, UpdateForm } from './incident-forms.tsx'
import { incidentLeadScreens, LeadPart } from './incident-lead.tsx'
import { incidentNoteScreens, Note, NoteForm } from './incident-notes.tsx'
import { PostmortemPart } from './postmortem.tsx'
import { offeredTemplates, requireFilledIn, withTemplate } from './template-choice.tsx'
import { EditableTimeline, OlderUpdates, TIMELINE_BOUNDS } from './timeline-parts.tsx'

/** The notes on incidents that only the organization can see. */
const visibilityTexts = {
  DRAFT: 'A draft: only members see it.',
  SUGGESTED: 'Suggested by an alert: only members see it.',
  MERGED: 'It was merged into another incident, which has its updates.',
} as const

/** Adds the page of an incident: its timeline, and the form that posts an update. */
export function incidentScreens(screens: Screens): void {
  const { get, action } = screens
  get('incidents/:id', (screen) => showIncident(screen, emptyForm, null))
  // For a reload after a refused update.
  get('incidents/:id/updates', (screen) => screen.c.redirect(screen.path(`incidents/${idIn(screen)}`), 303))
  const show = (screen: Screen, state: FormState) => showIncident(screen, state, null)
  action('incidents/:id/updates', postUpdate, show, fileLimits)
  action('incidents/:id/publish', publish, show)
  action('incidents/:id/dismiss', dismiss, show)
  incidentNoteScreens(screens, show)
  incidentLeadScreens(screens, show)
  incidentFileScreens(screens)
}

async function publish(screen: Screen, { fields }: SubmittedForm): Promise<string> {
  const id = idIn(screen)
  await publishIncident(screen.ctx, { id, notifySubscribers: fields.get('notifySubscribers') === 'true' })
  return `incidents/${id}`
}

async function dismiss(screen: Screen): Promise<string> {
  await dismissIncident(screen.ctx, idIn(screen))
  return 'now'
}

/** Returns the update in the address before which the timeline is shown; null: the newest updates. */
export function beforeIn({ c }: Screen): string | null {
  const before = c.req.query('before')
  return before === undefined ? null : validIdOrEmpty(before)
}

async function postUpdate(screen: Screen, form: SubmittedForm): Promise<string | Response> {
  const { fields } = form
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
  const update = {
    incidentId,
    status: fields.get('status'),
    message,
    translations: readTranslations(fields),
    services: readServiceStatuses(fields),
    notifySubscribers: readNotifySubscribers(fields),
    version: readVersion(fields),
  }
  await postIncidentUpdate(screen.ctx, update, readChosenFiles(form))
  return `incidents/${incidentId}`
}

async function showIncident(screen: Screen, state: FormState, preview: MessagePreview | null): Promise<Response> {
  const { ctx, organization } = screen
  const found = await findIncident(ctx, organization.id, idIn(screen))
  const before = beforeIn(screen)
  const [[incident], services, templates, postmortem, notes, [lead = null], candidates, files] = await Promise.all([
    readIncidentTimelines(ctx.db, [found], { ...TIMELINE_BOUNDS, before }, { serviceIds: null }),
    readServiceNames(screen),
    offeredTemplates(screen, 'UPDATE'),
    readPostmortem(ctx, found),
    readNotes(ctx.db, [found.id]),
    readLeads(ctx.db, [found.id]),
    readCandidates(ctx.db, organization.id),
    readFiles(ctx.db, [found.id]),
  ])
  const updates = incident?.updates ?? []
  const updateIds = updates.map(({ id }) => id)
  const [reviewers, authors, audiences, alerted, until] = await Promise.all([
    readReviewers(ctx.db, postmortem),
    readAuthors(ctx.db, organization.id, [found.id], updateIds),
    readUpdateAudiences(ctx.db, organization.id, [found.id], updateIds),
    readAlertedChannels(ctx.db, [found.id]),
    before === null ? null : readUpdateTime(ctx, found.id, before),
  ])
  const of = {
    audiences,
    alerted,
    until,
    postmortem,
    reviewers,
    services,
    templates,
    authors,
    before,
    notes,
    lead,
    candidates,
    files,
  }
  const content = incident && <WholeIncident {...{ screen, state, preview, incident, ...of }} />
  return screen.show(
    { title: found.title, section: 'incidents', content, actions: <Actions {...{ screen, found }} /> },
    state,
  )
}

function Actions({ screen, found: { id, visibility, status } }: { readonly screen: Screen; readonly found: Incident }) {
  const path = `/status/${screen.organization.slug}/incidents/${id}`
  const page = visibility === 'PUBLIC' ? <a href={path}>On the status page</a> : null
  if (!screen.may('WRITE')) return page
  return (
    <>
      {page}
      {visibility !== 'MERGED' && status !== 'RESOLVED' ? (
        <a class="button quiet" href={screen.path(`incidents/${id}/move`)}>
          Move a service
        </a>
      ) : null}
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
  /** The state of the form that `state.fields` names in `form`. */
  readonly state: FormState
  readonly preview: MessagePreview | null
  readonly incident: IncidentWithTimeline
  /** Null: none. */
  readonly postmortem: Postmortem | null
  readonly reviewers: ReviewerNames
  readonly services: readonly OfferedService[]
  /** For updates. */
  readonly templates: readonly Template[]
  readonly authors: ReadonlyMap<string, Author>
  /** The update before which the timeline is shown; null: the newest updates. */
  readonly before: string | null
  /** Newest first. */
  readonly notes: readonly NoteWithAuthor[]
  /** Null: it has no lead. */
  readonly lead: IncidentLead | null
  readonly candidates: readonly Candidate[]
  /** Oldest first. */
  readonly files: readonly FileInfo[]
  /** Who was notified of the updates, by their ids. */
  readonly audiences: ReadonlyMap<string, readonly UpdateAudience[]>
  readonly alerted: readonly AlertedChannel[]
  /** The time of the update before which the timeline is shown; null: there is none. */
  readonly until: Date | null
}

function WholeIncident(props: Props) {
  const { screen, state, preview, incident, postmortem, services, templates, authors, before, notes } = props
  const { reviewers } = props
  const mayPost = screen.may('WRITE') && before === null && incident.visibility !== 'MERGED'
  const ofForm = (...names: string[]) => (names.includes(state.fields.get('form') ?? '') ? state : emptyForm)
  const isResolved = incident.status === 'RESOLVED'
  // If another person has resolved it in the meantime, the typed message can still be posted.
  const ofUpdate = isResolved ? ofForm('update', 'resolve') : ofForm('update')
  const path = `incidents/${incident.id}`
  const { updates, updateCount } = incident
  const waiting = props.files.filter(({ updateId, noteId }) => updateId === null && noteId === null)
  const isLast = updates.length === updateCount || updates.length < TIMELINE_BOUNDS.updates
  return (
    <>
      <FormProblem state={mayPost ? ofForm('') : state} />
      <Facts {...{ screen, incident, services }} />
      <Alerted channels={props.alerted} />
      <LeadPart {...props} mayChange={screen.may('WRITE') && incident.visibility !== 'MERGED'} />
      {incident.visibility === 'PUBLIC' ? null : <p>{visibilityTexts[incident.visibility]}</p>}
      {incident.mergedIntoId === null ? null : (
        <p>
          <a href={screen.path(`incidents/${incident.mergedIntoId}`)}>The incident that it was merged into</a>
        </p>
      )}
      <PublicationButtons {...{ screen, incident }} />
      {mayPost ? <UpdateForm {...{ screen, incident, services, templates, preview }} state={ofUpdate} /> : null}
      {mayPost && !isResolved ? <ResolveForm {...{ screen, incident }} state={ofForm('resolve')} /> : null}
      {mayPost ? <NoteForm screen={screen} state={ofForm('note')} incidentId={incident.id} /> : null}
      {before === null ? <PostmortemPart {...{ screen, incident, postmortem, reviewers }} /> : null}
      {waiting.length === 0 ? null : (
        <section id="files">
          <h2>Files without an update</h2>
          <TimelineFiles screen={screen} incidentId={incident.id} files={waiting} mayDelete={screen.may('WRITE')} />
        </section>
      )}
      <h2>Timeline</h2>
      <EditableTimeline
        {...{ screen, path, updates, authors }}
        mark={(status) => <IncidentMark status={status} />}
        after={({ id, files = [] }) => (
          <>
            <TimelineFiles {...{ screen, files }} incidentId={incident.id} mayDelete={screen.may('WRITE')} />
            {props.audiences.has(id) ? <Audience channels={props.audiences.get(id) ?? []} /> : null}
          </>
        )}
        actions={({ id }) => <a href={addFilesPath(screen, incident.id, { updateId: id })}>Add files</a>}
        others={notesAmong(notes, props.until, isLast ? null : (updates.at(-1)?.createdAt ?? null)).map((note) => ({
          at: note.createdAt,
          item: <Note {...{ screen, note }} files={props.files.filter(({ noteId }) => noteId === note.id)} />,
        }))}
      />
      <OlderUpdates updates={updates} isFirst={before === null} isLast={isLast} />
    </>
  )
}

function Facts({ screen, incident, services }: Pick<Props, 'screen' | 'incident' | 'services'>) {
  const { status, impact, startedAt, resolvedAt, importedFrom } = incident
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
        {importedFrom === null ? null : ` · imported from ${importedFrom}`}
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

/** Returns the notes of a part of the timeline: each is on the page of the update that it follows. */
function notesAmong(notes: readonly NoteWithAuthor[], until: Date | null, since: Date | null): NoteWithAuthor[] {
  return notes.filter(
    ({ createdAt }) => (until === null || createdAt < until) && (since === null || createdAt >= since),
  )
}
