import type { AlertedChannel } from '../../alerting/alerted.ts'
import { readAlertedChannels } from '../../alerting/alerted.ts'
import { validIdOrEmpty } from '../../core/id.ts'
import type { Incident, Postmortem } from '../../generated/prisma/client.ts'
import type { FormState, SubmittedForm } from '../../http/form.tsx'
import { emptyForm, FormProblem } from '../../http/form.tsx'
import type { ToldByChannel } from '../../notification/told.ts'
import { readTold } from '../../notification/told.ts'
import type { Author } from '../../status/authors.ts'
import { readAuthors } from '../../status/authors.ts'
import { findIncident } from '../../status/incident.ts'
import type { Candidate, IncidentLead } from '../../status/incident-lead.ts'
import { readCandidates, readLeads } from '../../status/incident-lead.ts'
import type { NoteWithAuthor } from '../../status/incident-note.ts'
import { readNotes } from '../../status/incident-note.ts'
import { dismissIncident, publishIncident } from '../../status/incident-publication.ts'
import { postIncidentUpdate } from '../../status/incident-updates.ts'
import type { MessagePreview } from '../../status/message-preview.ts'
import { previewMessage } from '../../status/message-preview.ts'
import { readPostmortem } from '../../status/postmortem.ts'
import type { Template } from '../../status/template.ts'
import type { IncidentWithTimeline } from '../../status/timeline-reader.ts'
import { readIncidentTimelines } from '../../status/timeline-reader.ts'
import { IncidentMark, ServiceMark } from '../../status-page/html/status-mark.tsx'
import { Time } from '../../status-page/html/time.tsx'
import { impactLabels } from '../../status-page/view.ts'
import { readTellSubscribers, readVersion } from './edit-fields.tsx'
import { PublicationButtons } from './hidden-incident.tsx'
import { ResolveForm, UpdateForm } from './incident-forms.tsx'
import { incidentLeadScreens, LeadPart } from './incident-lead.tsx'
import { incidentNoteScreens, Note, NoteForm } from './incident-notes.tsx'
import { Alerted, Told } from './incident-told.tsx'
import { PostmortemPart } from './postmortem.tsx'
import type { Screen, Screens } from './screen.tsx'
import { idIn } from './screen.tsx'
import type { OfferedService } from './service-fields.tsx'
import { isDraft, readServiceNames, readServiceStatuses, usesTemplate } from './service-fields.tsx'
import { offeredTemplates, requireFilledIn, withTemplate } from './template-choice.tsx'
import { EditableTimeline, OlderUpdates, TIMELINE_BOUNDS } from './timeline-parts.tsx'
import { readTranslations } from './translation-fields.tsx'

/** What is said of incidents that only the organization sees. */
const visibilityTexts = {
  DRAFT: 'A draft: only members see it.',
  SUGGESTED: 'Suggested by an alert: only members see it.',
  MERGED: 'It became part of another incident, which has its updates.',
} as const

/** Adds the page of an incident: its timeline, and the form that posts an update. */
export function incidentScreens(screens: Screens): void {
  const { get, action } = screens
  get('incidents/:id', (screen) => showIncident(screen, emptyForm, null))
  // The address of a refused update, read again.
  get('incidents/:id/updates', (screen) => screen.c.redirect(screen.path(`incidents/${idIn(screen)}`), 303))
  const show = (screen: Screen, state: FormState) => showIncident(screen, state, null)
  action('incidents/:id/updates', postUpdate, show)
  action('incidents/:id/publish', publish, show)
  action('incidents/:id/dismiss', dismiss, show)
  incidentNoteScreens(screens, show)
  incidentLeadScreens(screens, show)
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
  const [[incident], services, templates, postmortem, notes, [lead = null], candidates] = await Promise.all([
    readIncidentTimelines(ctx.db, [found], { ...TIMELINE_BOUNDS, before }, { serviceIds: null }),
    readServiceNames(screen),
    offeredTemplates(screen, 'UPDATE'),
    readPostmortem(ctx, found),
    readNotes(ctx.db, [found.id]),
    readLeads(ctx.db, [found.id]),
    readCandidates(ctx.db, organization.id),
  ])
  const updates = incident?.updates ?? []
  const updateIds = updates.map(({ id }) => id)
  const [authors, told, alerted, followed] = await Promise.all([
    readAuthors(ctx.db, organization.id, [found.id], updateIds),
    readTold(ctx.db, organization.id, [found.id], updateIds),
    readAlertedChannels(ctx.db, [found.id]),
    before === null
      ? null
      : ctx.db.incidentUpdate.findUnique({ where: { id: before, incidentId: found.id }, select: { createdAt: true } }),
  ])
  const until = followed?.createdAt ?? null
  const of = { told, alerted, until, postmortem, services, templates, authors, before, notes, lead, candidates }
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
      {visibility === 'PUBLIC' && status !== 'RESOLVED' ? (
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
  /** Newest first. */
  readonly notes: readonly NoteWithAuthor[]
  /** null: nobody leads it. */
  readonly lead: IncidentLead | null
  readonly candidates: readonly Candidate[]
  /** Who was told of the updates, by their ids. */
  readonly told: ReadonlyMap<string, readonly ToldByChannel[]>
  readonly alerted: readonly AlertedChannel[]
  /** The time of the update before which the timeline is shown; null: there is none. */
  readonly until: Date | null
}

function WholeIncident(props: Props) {
  const { screen, state, preview, incident, postmortem, services, templates, authors, before, notes } = props
  const mayPost = screen.may('WRITE') && before === null && incident.visibility !== 'MERGED'
  const ofForm = (...names: string[]) => (names.includes(state.fields.get('form') ?? '') ? state : emptyForm)
  const isResolved = incident.status === 'RESOLVED'
  // What was typed to resolve it, when somebody else has done so meanwhile, can still be posted.
  const ofUpdate = isResolved ? ofForm('update', 'resolve') : ofForm('update')
  const path = `incidents/${incident.id}`
  const { updates, updateCount } = incident
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
          <a href={screen.path(`incidents/${incident.mergedIntoId}`)}>The incident that it became part of</a>
        </p>
      )}
      <PublicationButtons {...{ screen, incident }} />
      {mayPost ? <UpdateForm {...{ screen, incident, services, templates, preview }} state={ofUpdate} /> : null}
      {mayPost && !isResolved ? <ResolveForm {...{ screen, incident }} state={ofForm('resolve')} /> : null}
      {mayPost ? <NoteForm screen={screen} state={ofForm('note')} incidentId={incident.id} /> : null}
      {before === null ? <PostmortemPart {...{ screen, incident, postmortem }} /> : null}
      <h2>Timeline</h2>
      <EditableTimeline
        {...{ screen, path, updates, authors }}
        mark={(status) => <IncidentMark status={status} />}
        after={({ id }) => (props.told.has(id) ? <Told channels={props.told.get(id) ?? []} /> : null)}
        others={notesAmong(notes, props.until, isLast ? null : (updates.at(-1)?.createdAt ?? null)).map((note) => ({
          at: note.createdAt,
          item: <Note screen={screen} note={note} />,
        }))}
      />
      <OlderUpdates updates={updates} isFirst={before === null} isLast={isLast} />
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

/** Returns the notes of a part of the timeline: each stands on the page of the update that it follows. */
function notesAmong(notes: readonly NoteWithAuthor[], until: Date | null, since: Date | null): NoteWithAuthor[] {
  return notes.filter(
    ({ createdAt }) => (until === null || createdAt < until) && (since === null || createdAt >= since),
  )
}
