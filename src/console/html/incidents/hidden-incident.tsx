import type { Incident } from '../../../generated/prisma/client.ts'
import type { HiddenIncident } from '../../../status/incident/incident-queries.ts'
import { listHiddenIncidents } from '../../../status/incident/incident-queries.ts'
import { IncidentMark } from '../../../status-page/html/status-mark.tsx'
import { Time } from '../../../status-page/html/time.tsx'
import { impactLabels, serviceStatusLabels } from '../../../status-page/view.ts'
import { ButtonForm } from '../frame/button-form.tsx'
import type { Screen } from '../frame/screen.tsx'

/** The labels of incidents that only the organization can see. */
export const visibilityNames = { DRAFT: 'Draft', SUGGESTED: 'Suggested', MERGED: 'Merged' } as const

/** The maximum number of suggestions and drafts on the screen of current problems. */
const MAX_HIDDEN = 10

/** Reads the open suggestions and drafts, newest first. */
export function readHiddenIncidents({ ctx, organization }: Screen): Promise<HiddenIncident[]> {
  return listHiddenIncidents(ctx, organization.id, MAX_HIDDEN)
}

/** Renders the suggestions and drafts on the screen of current problems. */
export function HiddenIncidents({
  screen,
  incidents,
}: {
  readonly screen: Screen
  readonly incidents: readonly HiddenIncident[]
}) {
  if (incidents.length === 0) return null
  return (
    <section>
      <h2>Not published</h2>
      <ul class="rows large">
        {incidents.map((incident) => (
          <li id={incident.id}>
            <a href={screen.path(`incidents/${incident.id}`)}>{incident.title}</a>
            <span class="row-facts">
              {incident.visibility === 'PUBLIC' ? null : `${visibilityNames[incident.visibility]} · `}
              <IncidentMark status={incident.status} /> · {impactLabels[incident.impact]} · since{' '}
              <Time at={incident.startedAt} zone={screen.zone} />
            </span>
            <PublishedServices incident={incident} />
            <PublicationButtons screen={screen} incident={incident} />
          </li>
        ))}
      </ul>
      {incidents.length === MAX_HIDDEN ? (
        <p class="more">
          <a href={screen.path('incidents?state=hidden')}>All unpublished incidents</a>
        </p>
      ) : null}
    </section>
  )
}

/** Shows which services a suggestion or a draft will name, with their statuses, before it is published. */
function PublishedServices({ incident: { services, _count } }: { readonly incident: HiddenIncident }) {
  const named = services.map(({ service, status }) => `${service.name}: ${serviceStatusLabels[status]}`)
  const more = _count.services - services.length
  return (
    <span class="row-facts publishes">
      {named.length === 0
        ? 'Names no service'
        : `Will be published for ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`}
    </span>
  )
}

/** Renders the buttons that publish and dismiss a draft or a suggestion. */
export function PublicationButtons({
  screen,
  incident: { id, title, visibility },
}: {
  readonly screen: Screen
  readonly incident: Pick<Incident, 'id' | 'title' | 'visibility'>
}) {
  if (visibility === 'PUBLIC' || visibility === 'MERGED' || !screen.may('WRITE')) return null
  const path = screen.path(`incidents/${id}`)
  const publish = `${path}/publish`
  return (
    <div class="actions">
      <ButtonForm action={publish} fields={{ notifySubscribers: 'true' }} text="Publish" about={title} />
      <ButtonForm action={publish} fields={{}} text="Publish without notifying" about={title} />
      <ButtonForm action={`${path}/dismiss`} fields={{}} text="Dismiss" about={title} />
    </div>
  )
}
