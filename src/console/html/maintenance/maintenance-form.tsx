import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { FormProblem, InputField, textRules } from '../../../http/page/form.tsx'
import { findMaintenance, scheduleMaintenance, updateMaintenance } from '../../../status/maintenance/maintenance.ts'
import { readMaintenanceServiceIds } from '../../../status/maintenance/maintenance-queries.ts'
import { isOver } from '../../../status/maintenance/maintenance-schedule.ts'
import type { MessagePreview } from '../../../status/timeline/message-preview.ts'
import { previewMessage } from '../../../status/timeline/message-preview.ts'
import { titleText } from '../../../status/timeline/timeline-limits.ts'
import {
  currentNotifySubscribers,
  currentTime,
  currentValue,
  EditProblem,
  MessageField,
  NotifySubscribersField,
  PreviewButton,
  readNotifySubscribers,
  readTime,
  readVersion,
  readZone,
  TimeField,
  VersionField,
  ZoneField,
} from '../frame/edit-fields.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import { readTranslations, TRANSLATIONS, TranslationFields } from '../frame/translation-fields.tsx'
import { offeredTemplates, requireFilledIn, TemplateChoice, withTemplate } from '../incidents/template-choice.tsx'
import {
  currentServices,
  isDraft,
  readServiceIds,
  readServiceNames,
  ServiceChoice,
  usesTemplate,
} from '../services/service-fields.tsx'
import { NOTIFIED_FROM_NOW_ON } from './maintenance.tsx'

/** Adds the forms that schedule a maintenance and edit its title, times and services. */
export function maintenanceFormScreens({ form }: Screens): void {
  form('maintenance/new', showFirst, submitNew)
  form('maintenance/:id/edit', showEdit, submitEdit)
}

/** Shows the form, filled in by the template in the address. */
async function showFirst(screen: Screen, state: FormState): Promise<Response> {
  const templateId = screen.c.req.query('template')
  if (templateId === undefined || state.fields.size > 0) return showNew(screen, state, null)
  return showNew(screen, { fields: await used(screen, new URLSearchParams({ templateId })), problem: null }, null)
}

const used = (screen: Screen, fields: URLSearchParams) =>
  withTemplate(screen, 'MAINTENANCE', fields, {
    startedAt: readTime(fields, 'startsAt', readZone(fields, screen.zone)),
    endsAt: readTime(fields, 'endsAt', readZone(fields, screen.zone)),
  })

async function submitNew(screen: Screen, { fields }: SubmittedForm): Promise<string | Response> {
  const { ctx } = screen
  if (usesTemplate(fields)) return showNew(screen, { fields: await used(screen, fields), problem: null }, null)
  const message = fields.get('message') ?? ''
  if (isDraft(fields)) {
    const preview = fields.has('preview')
      ? await previewMessage(ctx, { message, translations: readTranslations(fields) })
      : null
    return showNew(screen, { fields, problem: null }, preview)
  }
  requireFilledIn(fields)
  const zone = readZone(fields, screen.zone)
  const { id } = await scheduleMaintenance(ctx, {
    title: fields.get('title') ?? '',
    message,
    translations: readTranslations(fields),
    startsAt: readTime(fields, 'startsAt', zone) ?? undefined,
    endsAt: readTime(fields, 'endsAt', zone) ?? undefined,
    serviceIds: readServiceIds(fields),
    notifySubscribers: readNotifySubscribers(fields),
  })
  return `maintenance/${id}`
}

const ZONE_HINT = 'Of both times, such as Europe/Berlin. Pages show them in the zone of the organization.'

const ownFields = ['title', 'message', 'startsAt', 'endsAt', 'timeZone', 'serviceIds', TRANSLATIONS] as const

async function showNew(screen: Screen, state: FormState, preview: MessagePreview | null): Promise<Response> {
  const { zone } = screen
  const [services, templates] = await Promise.all([readServiceNames(screen), offeredTemplates(screen, 'MAINTENANCE')])
  const content = (
    <form method="post" class="stack composer" id="schedule">
      <FormProblem state={state} fields={ownFields} />
      <TemplateChoice {...{ screen, state, templates }} />
      <InputField label="Title" name="title" state={state} autofocus {...textRules(titleText)} autocomplete="off" />
      <div class="beside">
        <TimeField label="Starts" name="startsAt" state={state} zone={zone} required />
        <TimeField label="Ends" name="endsAt" state={state} zone={zone} required />
        <ZoneField state={state} zone={zone} hint={ZONE_HINT} />
      </div>
      <MessageField state={state} preview={preview} />
      <TranslationFields screen={screen} state={state} texts={['title', 'message']} />
      <ServiceChoice state={state} services={services} chosen={[]} />
      <NotifySubscribersField state={state} hint={NOTIFIED_FROM_NOW_ON} />
      <p class="actions">
        <button type="submit">Schedule</button>
        <PreviewButton />
        <a href={screen.path('maintenance')}>Cancel</a>
      </p>
    </form>
  )
  return screen.show({ title: 'Schedule maintenance', section: 'maintenance', content }, state)
}

const read = (screen: Screen) => findMaintenance(screen.ctx, screen.organization.id, idIn(screen))

async function submitEdit(screen: Screen, { fields }: SubmittedForm): Promise<string | Response> {
  const { ctx } = screen
  const id = idIn(screen)
  if (isDraft(fields)) return showEdit(screen, { fields, problem: null })
  const zone = readZone(fields, screen.zone)
  const { startsAt, endsAt, status } = await read(screen)
  const times = {
    startsAt: readTime(fields, 'startsAt', zone, startsAt) ?? undefined,
    endsAt: readTime(fields, 'endsAt', zone, endsAt) ?? undefined,
  }
  const isMoved = +startsAt !== Number(times.startsAt ?? startsAt) || +endsAt !== Number(times.endsAt ?? endsAt)
  await updateMaintenance(ctx, {
    id,
    title: fields.get('title') ?? undefined,
    translations: readTranslations(fields),
    ...(isMoved && times),
    ...(!isOver(status) && { serviceIds: readServiceIds(fields) }),
    notifySubscribers: readNotifySubscribers(fields),
    version: readVersion(fields),
  })
  return `maintenance/${id}`
}

async function showEdit(screen: Screen, state: FormState): Promise<Response> {
  const { zone } = screen
  const { id, title, titles, startsAt, endsAt, version, status, notifySubscribers } = await read(screen)
  const [services, chosen] = await Promise.all([readServiceNames(screen), readMaintenanceServiceIds(screen.ctx, id)])
  const at = (name: string, time: Date) => currentTime(state, version, zone, name, time)
  const content = (
    <form method="post" class="stack" id="edit">
      <EditProblem state={state} version={version} fields={ownFields} />
      <VersionField state={state} version={version} />
      <InputField
        label="Title"
        name="title"
        state={state}
        value={title}
        {...textRules(titleText)}
        hint={currentValue(state, version, { name: 'title', value: title })}
      />
      <TranslationFields {...{ screen, state, titles, version }} texts={['title']} />
      {isOver(status) ? (
        <p class="hint">It is over: its times and services are final.</p>
      ) : (
        <>
          <div class="beside">
            <TimeField
              label="Starts"
              name="startsAt"
              state={state}
              zone={zone}
              at={startsAt}
              hint={at('startsAt', startsAt)}
            />
            <TimeField label="Ends" name="endsAt" state={state} zone={zone} at={endsAt} hint={at('endsAt', endsAt)} />
            <ZoneField state={state} zone={zone} hint={ZONE_HINT} />
          </div>
          <ServiceChoice {...{ state, services, chosen }} hint={currentServices(state, version, services, chosen)} />
          <NotifySubscribersField
            state={state}
            checked={notifySubscribers}
            hint={currentNotifySubscribers(state, version, notifySubscribers, `Of new times. ${NOTIFIED_FROM_NOW_ON}`)}
          />
        </>
      )}
      <p class="actions">
        <button type="submit">Save</button>
        <a href={screen.path(`maintenance/${id}`)}>Cancel</a>
      </p>
    </form>
  )
  return screen.show({ title: 'Edit the maintenance', section: 'maintenance', content }, state)
}
