import { IncidentImpact, IncidentStatus, ServiceStatus } from '../../../generated/prisma/enums.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { FormProblem, fieldProblem, SelectField } from '../../../http/page/form.tsx'
import { serviceIdOf } from '../../../monitoring/monitor/monitor-queries.ts'
import { proposedStatuses } from '../../../status/incident/incident-effects.ts'
import { impactOfStatuses, impactsByStatus, impactWithoutServices } from '../../../status/incident/incident-impact.ts'
import { createIncident, newIncident } from '../../../status/incident/incident-opening.ts'
import type { PageState } from '../../../status/page/page-state.ts'
import type { Template } from '../../../status/template/template.ts'
import type { MessagePreview } from '../../../status/timeline/message-preview.ts'
import { previewMessage } from '../../../status/timeline/message-preview.ts'
import { impactLabels, incidentStatusLabels, serviceStatusLabels } from '../../../status-page/view.ts'
import { readCurrentState } from '../frame/current-state.ts'
import { DescribedTexts, readTexts, textNames } from '../frame/described-texts.tsx'
import {
  MessageField,
  NotifySubscribersField,
  PreviewButton,
  readNotifySubscribers,
  readTime,
  TimeField,
} from '../frame/edit-fields.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { readTranslations, TRANSLATIONS, TranslationFields } from '../frame/translation-fields.tsx'
import { isDraft, readServiceStatuses, ServiceStatusFields, usesTemplate } from '../services/service-fields.tsx'
import { offeredTemplates, requireFilledIn, TemplateChoice, withTemplate } from './template-choice.tsx'

/** The choices of an incident's status and impact. */
export const statusChoices = Object.values(IncidentStatus).map((value) => ({
  value,
  text: incidentStatusLabels[value],
}))
export const impactChoices = Object.values(IncidentImpact).map((value) => ({ value, text: impactLabels[value] }))

/** Adds the form that reports an incident. */
export function newIncidentScreens({ form }: Screens): void {
  form('incidents/new', showFirst, submitNew)
}

/** Shows the form, filled in by the template in the address. */
async function showFirst(screen: Screen, state: FormState): Promise<Response> {
  const templateId = screen.c.req.query('template')
  if (templateId === undefined || state.fields.size > 0) return showNew(screen, state, null)
  return showNew(screen, { fields: await used(screen, new URLSearchParams({ templateId })), problem: null }, null)
}

const used = (screen: Screen, fields: URLSearchParams) =>
  withTemplate(screen, 'INCIDENT', fields, {
    startedAt: readTime(fields, 'startedAt', screen.zone) ?? screen.ctx.now(),
  })

async function submitNew(screen: Screen, { fields }: SubmittedForm): Promise<string | Response> {
  const { ctx, zone } = screen
  if (usesTemplate(fields)) return showNew(screen, { fields: await used(screen, fields), problem: null }, null)
  const message = fields.get('message') ?? ''
  if (isDraft(fields)) {
    const preview = fields.has('preview')
      ? await previewMessage(ctx, { message, translations: readTranslations(fields) })
      : null
    return showNew(screen, { fields, problem: null }, preview)
  }
  requireFilledIn(fields)
  const services = readServiceStatuses(fields)
  const { id } = await createIncident(ctx, {
    ...readTexts(newIncident, fields),
    status: fields.get('status'),
    impact: fields.get('impact') || impactOfStatuses(statusesOf(services)),
    message,
    translations: readTranslations(fields),
    services,
    startedAt: readTime(fields, 'startedAt', zone),
    resolvedAt: readTime(fields, 'resolvedAt', zone),
    notifySubscribers: readNotifySubscribers(fields),
    visibility: fields.get('visibility'),
  })
  return `incidents/${id}`
}

/** Returns the statuses of the services in a form; unknown ones are refused later. */
const statusesOf = (services: ReturnType<typeof readServiceStatuses>): ServiceStatus[] =>
  Object.values(ServiceStatus).filter((status) => services.some((each) => each.status === status))

const ownFields = [
  ...textNames(newIncident),
  'status',
  'impact',
  'message',
  'services',
  'startedAt',
  'resolvedAt',
  TRANSLATIONS,
]

async function showNew(screen: Screen, state: FormState, preview: MessagePreview | null): Promise<Response> {
  const [page, templates] = await Promise.all([readCurrentState(screen), offeredTemplates(screen, 'INCIDENT')])
  const from = await serviceCameFrom(screen)
  const content = <NewIncident {...{ screen, state, preview, page, from, templates }} />
  return screen.show({ title: 'Report an incident', section: 'incidents', content }, state)
}

/** Returns the id of the service in the address, or that of the monitor in it; null: none. */
async function serviceCameFrom({ c, ctx, organization }: Screen): Promise<string | null> {
  const { service, monitor } = c.req.query()
  return monitor === undefined ? (service ?? null) : serviceIdOf(ctx, organization.id, monitor)
}

interface Props {
  readonly screen: Screen
  readonly state: FormState
  readonly preview: MessagePreview | null
  readonly page: Pick<PageState, 'services' | 'incidents'>
  /** The id of the service that the person came from; null: none. */
  readonly from: string | null
  readonly templates: readonly Template[]
}

/** Returns what the page shows for each service with a problem, and the open incidents that say so. */
function shownNow({ services, incidents }: Props['page']): ReadonlyMap<string, string> {
  const titlesOf = (serviceId: string) =>
    incidents
      .filter((incident) => incident.services.some((each) => each.serviceId === serviceId))
      .map(({ title }) => title)
  return new Map(
    services.flatMap(({ id, shown }) => {
      if (shown === 'OPERATIONAL') return []
      const of = titlesOf(id).map((title) => `“${title}”`)
      const incident = of.length === 0 ? '' : `, in the open incident ${of.join(' and ')}`
      return [[id, `Shown now: ${serviceStatusLabels[shown]}${incident}`] as const]
    }),
  )
}

function NewIncident({ screen, state, preview, page, from, templates }: Props) {
  const { services } = page
  const chosen = proposedStatuses(services, from)
  const statuses = state.fields.size > 0 ? statusesOf(readServiceStatuses(state.fields)) : [...chosen.values()]
  return (
    <form method="post" class="stack composer" id="new-incident">
      <FormProblem state={state} fields={ownFields} />
      <TemplateChoice {...{ screen, state, templates }} />
      <DescribedTexts schema={newIncident} state={state} />
      <div class="beside">
        <SelectField label="Status" name="status" state={state} choices={statusChoices} value="INVESTIGATING" />
        <SelectField
          label="Impact"
          name="impact"
          state={state}
          choices={[{ value: '', text: 'Follows the services' }, ...impactChoices]}
          value=""
          hint={<FollowedImpact statuses={statuses} />}
        />
      </div>
      <MessageField state={state} preview={preview} />
      <TranslationFields screen={screen} state={state} texts={['title', 'message']} />
      <ServiceStatusFields state={state} services={services} chosen={chosen} shownNow={shownNow(page)} />
      <NotifySubscribersField state={state} />
      <PastTimes screen={screen} state={state} />
      <p class="actions">
        <button type="submit">Report</button>
        <button type="submit" class="quiet" name="visibility" value="DRAFT">
          Save as draft
        </button>
        <PreviewButton />
        <a href={screen.path('incidents')}>Cancel</a>
      </p>
    </form>
  )
}

/** Says which impact follows from the services. The script (`browser/publication.ts`) follows the choices. */
function FollowedImpact({ statuses }: { readonly statuses: readonly ServiceStatus[] }) {
  const names = Object.entries(impactsByStatus).map(([status, impact]) => [status, impactLabels[impact]])
  return (
    <span data-impacts={JSON.stringify([['', impactLabels[impactWithoutServices]], ...names])}>
      From the services: <b>{impactLabels[impactOfStatuses(statuses)]}</b>
    </span>
  )
}

function PastTimes({ screen, state }: Pick<Props, 'screen' | 'state'>) {
  const isOpen = ['startedAt', 'resolvedAt'].some(
    (name) => state.fields.get(name) || fieldProblem(state, name) !== null,
  )
  const hint = `In the zone ${screen.zone.name}. `
  return (
    <details open={isOpen}>
      <summary>It began earlier, or is over</summary>
      <div class="beside">
        <TimeField label="Began" name="startedAt" state={state} zone={screen.zone} hint={`${hint}Empty: now.`} />
        <TimeField
          label="Resolved"
          name="resolvedAt"
          state={state}
          zone={screen.zone}
          hint="With an end, the status must be “Resolved”. The incident is recorded as past, and no subscriber is notified."
        />
      </div>
    </details>
  )
}
