import type { Maintenance, MaintenanceStatus } from '../../../generated/prisma/client.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem, SelectField, TextField, textRules } from '../../../http/page/form.tsx'
import { cancelMaintenance, findMaintenance, updateMaintenance } from '../../../status/maintenance/maintenance.ts'
import { allowedTransitions, isOver } from '../../../status/maintenance/maintenance-schedule.ts'
import type { Author } from '../../../status/timeline/authors.ts'
import { readAuthors } from '../../../status/timeline/authors.ts'
import type { MessagePreview } from '../../../status/timeline/message-preview.ts'
import { previewMessage } from '../../../status/timeline/message-preview.ts'
import { optionalMessage } from '../../../status/timeline/timeline-limits.ts'
import type { MaintenanceWithTimeline } from '../../../status/timeline/timeline-reader.ts'
import { readMaintenanceTimelines } from '../../../status/timeline/timeline-reader.ts'
import { MaintenanceMark } from '../../../status-page/html/status-mark.tsx'
import { Span } from '../../../status-page/html/time.tsx'
import { joinNames, maintenanceStatusLabels } from '../../../status-page/view.ts'
import {
  currentValue,
  EditProblem,
  MessageField,
  NotifySubscribersField,
  PreviewButton,
  readNotifySubscribers,
  readVersion,
  VersionField,
} from '../frame/edit-fields.tsx'
import type { OfferedService } from '../frame/offered-service.ts'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import { readTranslations, TRANSLATIONS, TranslationFields } from '../frame/translation-fields.tsx'
import { beforeIn } from '../incidents/incident.tsx'
import { EditableTimeline, OlderUpdates, TIMELINE_BOUNDS } from '../incidents/timeline-parts.tsx'
import { isDraft, readServiceNames } from '../services/service-fields.tsx'

/** The effect of the choice to notify subscribers on automatic updates. */
export const NOTIFIED_FROM_NOW_ON = 'Also of its start and end.'

/**
 * Adds the page of a maintenance: its timeline, the form that posts an update or changes its status, and its
 * cancellation.
 */
export function maintenanceScreens({ get, form, action }: Screens): void {
  get('maintenance/:id', (screen) => showMaintenance(screen, emptyForm, null))
  // For a reload after a refused update.
  get('maintenance/:id/updates', (screen) => screen.c.redirect(screen.path(`maintenance/${idIn(screen)}`), 303))
  action('maintenance/:id/updates', postUpdate, (screen, state) => showMaintenance(screen, state, null))
  form('maintenance/:id/cancel', showCancellation, async (screen, { fields }) => {
    await cancelMaintenance(screen.ctx, {
      id: idIn(screen),
      message: fields.get('message'),
      translations: readTranslations(fields),
      notifySubscribers: readNotifySubscribers(fields),
    })
    return `maintenance/${idIn(screen)}`
  })
}

const read = (screen: Screen) => findMaintenance(screen.ctx, screen.organization.id, idIn(screen))

async function postUpdate(screen: Screen, { fields }: SubmittedForm): Promise<string | Response> {
  const message = fields.get('message') ?? ''
  if (isDraft(fields)) {
    const preview = await previewMessage(screen.ctx, { message, translations: readTranslations(fields) })
    return showMaintenance(screen, { fields, problem: null }, preview)
  }
  const { id, status } = await read(screen)
  const wanted = fields.get('nextStatus') ?? fields.get('status')
  await updateMaintenance(screen.ctx, {
    id,
    message,
    translations: readTranslations(fields),
    status: wanted === null || wanted === status ? null : wanted,
    notifySubscribers: readNotifySubscribers(fields),
    version: readVersion(fields),
  })
  return `maintenance/${id}`
}

async function showMaintenance(screen: Screen, state: FormState, preview: MessagePreview | null): Promise<Response> {
  const { ctx, organization } = screen
  const found = await read(screen)
  const before = beforeIn(screen)
  const [[maintenance], services] = await Promise.all([
    readMaintenanceTimelines(ctx.db, [found], { ...TIMELINE_BOUNDS, before }, { serviceIds: null }),
    readServiceNames(screen),
  ])
  const updateIds = maintenance?.updates.map(({ id }) => id) ?? []
  const authors = await readAuthors(ctx.db, organization.id, [found.id], updateIds)
  const content = maintenance && (
    <WholeMaintenance {...{ screen, state, preview, maintenance, services, authors, before }} />
  )
  const actions = <Actions {...{ screen, found }} />
  return screen.show({ title: found.title, section: 'maintenance', content, actions }, state)
}

function Actions({
  screen,
  found: { id, status, seriesId },
}: {
  readonly screen: Screen
  readonly found: Maintenance
}) {
  const page = <a href={`/status/${screen.organization.slug}/maintenance/${id}`}>On the status page</a>
  if (!screen.may('WRITE')) return page
  const button = (name: string, text: string) => (
    <a class="button quiet" href={screen.path(`maintenance/${id}/${name}`)}>
      {text}
    </a>
  )
  return (
    <>
      {page}
      {button('edit', isOver(status) ? 'Edit' : 'Edit or move')}
      {isOver(status) ? null : button('cancel', 'Cancel it')}
      {button('delete', status === 'SCHEDULED' && seriesId !== null ? 'Skip this date' : 'Delete')}
      {seriesId === null ? null : <a href={screen.path(`maintenance/series/${seriesId}/edit`)}>All dates</a>}
    </>
  )
}

interface Props {
  readonly screen: Screen
  readonly state: FormState
  readonly preview: MessagePreview | null
  readonly maintenance: MaintenanceWithTimeline
  readonly services: readonly OfferedService[]
  readonly authors: ReadonlyMap<string, Author>
  readonly before: string | null
}

function WholeMaintenance({ screen, state, preview, maintenance, services, authors, before }: Props) {
  const { id, status, startsAt, endsAt, updates, updateCount } = maintenance
  const affected = new Set(maintenance.services.map(({ serviceId }) => serviceId))
  const named = {
    services: services.filter((service) => affected.has(service.id)),
    serviceCount: maintenance.serviceCount,
  }
  return (
    <>
      <p class="row-facts" id="facts">
        <MaintenanceMark status={status} /> · <Span from={startsAt} to={endsAt} zone={screen.zone} />
        {affected.size === 0 ? null : ` · ${joinNames(named)}`}
      </p>
      {screen.may('WRITE') && before === null ? <UpdateForm {...{ screen, state, preview, maintenance }} /> : null}
      <h2>Timeline</h2>
      <EditableTimeline
        {...{ screen, updates, authors }}
        path={`maintenance/${id}`}
        mark={(of) => <MaintenanceMark status={of} />}
      />
      <OlderUpdates
        updates={updates}
        isFirst={before === null}
        isLast={updates.length === updateCount || updates.length < TIMELINE_BOUNDS.updates}
      />
    </>
  )
}

function UpdateForm({
  screen,
  state,
  preview,
  maintenance,
}: Pick<Props, 'screen' | 'state' | 'preview' | 'maintenance'>) {
  const { id, status, version } = maintenance
  const next = allowedTransitions(status).filter((each) => each !== 'CANCELLED')
  return (
    <form method="post" action={screen.path(`maintenance/${id}/updates`)} class="stack" id="update">
      <h2>Post an update</h2>
      <EditProblem state={state} version={version} fields={['status', 'message', TRANSLATIONS]} />
      <VersionField state={state} version={version} />
      <SelectField
        label="Status"
        name="status"
        state={state}
        choices={[status, ...next].map((value) => ({ value, text: maintenanceStatusLabels[value] }))}
        value={status}
        hint={currentValue(state, version, { name: 'status', value: status, shown: maintenanceStatusLabels[status] })}
      />
      <MessageField
        state={state}
        preview={preview}
        rules={optionalMessage}
        hint="May be empty when only the status changes."
      />
      <TranslationFields {...{ screen, state, version }} texts={['title', 'message']} titles={maintenance.titles} />
      <NotifySubscribersField state={state} checked={maintenance.notifySubscribers} hint={NOTIFIED_FROM_NOW_ON} />
      <p class="actions">
        <button type="submit">Post update</button>
        <PreviewButton />
      </p>
      <p class="actions">
        {next.includes('IN_PROGRESS') && status === 'SCHEDULED' ? <Now status="IN_PROGRESS" text="Start now" /> : null}
        {next.includes('COMPLETED') ? <Now status="COMPLETED" text="Complete now" /> : null}
      </p>
    </form>
  )
}

/** A button that posts the update with a status. It takes precedence over the form’s choice. */
function Now({ status, text }: { readonly status: MaintenanceStatus; readonly text: string }) {
  return (
    <button type="submit" name="nextStatus" value={status} class="quiet">
      {text}
    </button>
  )
}

async function showCancellation(screen: Screen, state: FormState): Promise<Response> {
  const { id, title, notifySubscribers } = await read(screen)
  const content = (
    <form method="post" class="stack" id="confirm">
      <FormProblem state={state} fields={['message', TRANSLATIONS]} />
      <p class="lead">{title}</p>
      <p>It ends now, or does not start. It stays in the history.</p>
      <TextField
        label="Message"
        name="message"
        state={state}
        hint="May be empty."
        rows={3}
        {...textRules(optionalMessage)}
      />
      <TranslationFields screen={screen} state={state} texts={['message']} />
      <NotifySubscribersField state={state} checked={notifySubscribers} />
      <p class="actions">
        <button type="submit" class="danger">
          Cancel the maintenance
        </button>
        <a class="button quiet" href={screen.path(`maintenance/${id}`)}>
          Keep it
        </a>
      </p>
    </form>
  )
  return screen.show({ title: 'Cancel this maintenance?', section: 'maintenance', content }, state)
}
