import type { UnhealthyMonitor } from '../../monitoring/monitor/monitor-queries.ts'
import { listUnhealthyMonitors, servicesBeforeFirstResult } from '../../monitoring/monitor/monitor-queries.ts'
import type { IncidentLead } from '../../status/incident/incident-lead.ts'
import { readLeads } from '../../status/incident/incident-lead.ts'
import type { AwaitedReview } from '../../status/incident/postmortem-review.ts'
import { readAwaitedReviews } from '../../status/incident/postmortem-review.ts'
import type { PageState, ServiceState } from '../../status/page/page-state.ts'
import type { Author } from '../../status/timeline/authors.ts'
import { readAuthors } from '../../status/timeline/authors.ts'
import { IncidentMark, ServiceMark } from '../../status-page/html/status-mark.tsx'
import { Span, Time } from '../../status-page/html/time.tsx'
import { impactLabels } from '../../status-page/view.ts'
import { readCurrentState } from './frame/current-state.ts'
import { FirstStep } from './frame/first-step.tsx'
import type { Screen, Screens } from './frame/screen.tsx'
import { HiddenIncidents, readHiddenIncidents } from './incidents/hidden-incident.tsx'
import { leadInWords } from './incidents/incident-lead.tsx'
import { authorName } from './incidents/timeline-parts.tsx'
import { monitorStateNames } from './monitors/monitor-words.ts'

/** The maximum number of monitors; their list has all. */
const MAX_MONITORS = 25
/** The maximum number of post-mortems that await a review. */
const MAX_REVIEWS = 10
/** The maximum number of services; their list has all. */
const MAX_SERVICES = 25

/** Adds the screen of current problems and upcoming maintenance. */
export function nowScreens({ get }: Screens): void {
  get('now', async (screen) => {
    const { ctx, organization } = screen
    const [state, troubles, hidden, reviews] = await Promise.all([
      readCurrentState(screen),
      listUnhealthyMonitors(ctx, organization.id, MAX_MONITORS),
      readHiddenIncidents(screen),
      readAwaitedReviews(ctx.db, organization.id, MAX_REVIEWS),
    ])
    const newest = state.incidents.flatMap(({ updates }) => updates[0]?.id ?? [])
    const incidentIds = state.incidents.map(({ id }) => id)
    const [authors, leads] = await Promise.all([
      readAuthors(ctx.db, organization.id, incidentIds, newest),
      readLeads(ctx.db, incidentIds),
    ])
    const unknown = state.services.filter(({ shown }) => shown === 'UNKNOWN').slice(0, MAX_SERVICES)
    const unknownIds = unknown.map(({ id }) => id)
    const awaited = await servicesBeforeFirstResult(ctx, organization.id, unknownIds)
    const leadOf = new Map(leads.map((lead) => [lead.incidentId, lead]))
    const content = <Now {...{ screen, state, troubles, authors, leads: leadOf, awaited, hidden, reviews }} />
    const report = (
      <a class="button" href={screen.path('incidents/new')}>
        Report an incident
      </a>
    )
    return screen.show({ title: 'Now', section: 'now', content, actions: screen.may('WRITE') ? report : undefined })
  })
}

function Now({
  screen,
  state,
  troubles,
  authors,
  leads,
  awaited,
  hidden,
  reviews,
}: {
  readonly screen: Screen
  readonly state: PageState
  readonly troubles: readonly UnhealthyMonitor[]
  /** The authors of updates, by the update's id. */
  readonly authors: ReadonlyMap<string, Author>
  /** The leads, by the incident's id. */
  readonly leads: ReadonlyMap<string, IncidentLead>
  /** The services whose monitors have not run yet. */
  readonly awaited: ReadonlySet<string>
  /** Suggestions and drafts. */
  readonly hidden: Awaited<ReturnType<typeof readHiddenIncidents>>
  readonly reviews: readonly AwaitedReview[]
}) {
  const affected = state.services.filter(({ id, shown }) => shown !== 'OPERATIONAL' && !awaited.has(id))
  const waiting = state.services.filter(({ id }) => awaited.has(id))
  const isCalm = state.incidents.length === 0 && hidden.length === 0 && affected.length === 0 && troubles.length === 0
  return (
    <>
      {state.services.length === 0 ? (
        <FirstStep screen={screen} path="start" text="Watch a website">
          Nothing is monitored yet.
        </FirstStep>
      ) : null}
      {isCalm && state.services.length > 0 ? (
        <NoProblems slug={screen.organization.slug} waiting={waiting} all={state.services.length} />
      ) : null}
      <HiddenIncidents {...{ screen, incidents: hidden }} />
      <Incidents {...{ screen, state, authors, leads }} />
      <Affected {...{ screen, services: affected }} />
      <Troubles {...{ screen, troubles }} />
      <Upcoming {...{ screen, state }} />
      <AwaitedReviews {...{ screen, reviews }} />
    </>
  )
}

function AwaitedReviews({ screen, reviews }: { readonly screen: Screen; readonly reviews: readonly AwaitedReview[] }) {
  if (reviews.length === 0) return null
  return (
    <section id="reviews">
      <h2>Post-mortems to review</h2>
      <ul class="rows">
        {reviews.map(({ incident, requestedAt }) => (
          <li>
            <a href={screen.path(`incidents/${incident.id}/postmortem`)}>{incident.title}</a>
            <span class="row-facts">
              requested <Time at={requestedAt} zone={screen.zone} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/**
 * @param waiting the services whose first probe is pending.
 * @param all the number of services.
 */
function NoProblems({
  slug,
  waiting,
  all,
}: {
  readonly slug: string
  readonly waiting: readonly ServiceState[]
  readonly all: number
}) {
  const [first] = waiting
  const begins =
    first && (waiting.length === 1 ? `The first probe of ${first.name} is running.` : 'The first probes are running.')
  return (
    <>
      {waiting.length < all ? <p class="all-clear">Everything is operational.</p> : null}
      {begins === undefined ? null : <p class="lead">{begins}</p>}
      <p class="actions">
        <a href={`/status/${slug}`}>See your status page</a>
      </p>
    </>
  )
}

interface IncidentsProps {
  readonly screen: Screen
  readonly state: PageState
  readonly authors: ReadonlyMap<string, Author>
  /** The leads, by the incident's id. */
  readonly leads: ReadonlyMap<string, IncidentLead>
}

function Incidents({ screen, state, authors, leads }: IncidentsProps) {
  if (state.incidents.length === 0) return null
  return (
    <section>
      <h2>Open incidents</h2>
      <ul class="rows large">
        {state.incidents.map(({ id, title, status, impact, startedAt, updates }) => (
          <li id={id}>
            <a href={screen.path(`incidents/${id}`)}>{title}</a>
            <span class="row-facts">
              <IncidentMark status={status} /> · {impactLabels[impact]} · since{' '}
              <Time at={startedAt} zone={screen.zone} />
            </span>
            <LastUpdate {...{ screen, update: updates[0], authors }} lead={leads.get(id) ?? null} />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Shows who leads the incident, as its screen does, and who posted its newest update. */
function LastUpdate({
  screen,
  update,
  lead,
  authors,
}: Pick<IncidentsProps, 'screen' | 'authors'> & {
  readonly update: PageState['incidents'][number]['updates'][number] | undefined
  readonly lead: IncidentLead | null
}) {
  const author = update && authors.get(update.id)
  return (
    <span class="row-facts">
      {leadInWords(lead)}
      {update === undefined || author === undefined ? null : (
        <>
          {` · last update by ${authorName(author)}, `}
          <Time at={update.createdAt} zone={screen.zone} />
        </>
      )}
    </span>
  )
}

function Affected({ screen, services }: { readonly screen: Screen; readonly services: readonly ServiceState[] }) {
  if (services.length === 0) return null
  return (
    <section>
      <h2>Affected services</h2>
      <ul class="rows">
        {services.slice(0, MAX_SERVICES).map(({ id, name, shown }) => (
          <li id={id} data-status={shown}>
            <a href={screen.path(`services/${id}`)}>{name}</a>
            <span class="row-facts">
              <ServiceMark status={shown} />
              {screen.may('WRITE') ? (
                <>
                  {' · '}
                  <a href={screen.path(`incidents/new?service=${id}`)} aria-label={`Report an incident of ${name}`}>
                    Report
                  </a>
                </>
              ) : null}
            </span>
          </li>
        ))}
      </ul>
      {services.length > MAX_SERVICES ? (
        <p class="more">
          <a href={screen.path('services')}>All {services.length} affected services</a>
        </p>
      ) : null}
    </section>
  )
}

function Troubles({ screen, troubles }: { readonly screen: Screen; readonly troubles: readonly UnhealthyMonitor[] }) {
  if (troubles.length === 0) return null
  return (
    <section>
      <h2>Monitors</h2>
      <ul class="rows">
        {troubles.map(({ id, name, state, stateSince, unknownSince }) => (
          <li id={id} data-state={unknownSince === null ? state : 'UNKNOWN'}>
            <a href={screen.path(`monitors/${id}`)}>{name}</a>
            <span class="row-facts">
              <span class="state">{unknownSince === null ? monitorStateNames[state] : 'No data'}</span> since{' '}
              <Time at={unknownSince ?? stateSince} zone={screen.zone} />
            </span>
          </li>
        ))}
      </ul>
      {troubles.length === MAX_MONITORS ? (
        <p class="more">
          <a href={screen.path('monitors')}>All monitors</a>
        </p>
      ) : null}
    </section>
  )
}

function Upcoming({ screen, state }: { readonly screen: Screen; readonly state: PageState }) {
  if (state.maintenances.length === 0) return null
  return (
    <section>
      <h2>Maintenance</h2>
      <ul class="rows">
        {state.maintenances.map(({ id, title, startsAt, endsAt }) => (
          <li id={id}>
            <a href={screen.path(`maintenance/${id}`)}>{title}</a>
            <span class="row-facts">
              <Span from={startsAt} to={endsAt} zone={screen.zone} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
