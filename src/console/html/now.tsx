import type { PendingMonitor, UnhealthyMonitor } from '../../monitoring/monitor/monitor-queries.ts'
import { listPendingMonitors, listUnhealthyMonitors } from '../../monitoring/monitor/monitor-queries.ts'
import type { IncidentLead } from '../../status/incident/incident-lead.ts'
import { readLeads } from '../../status/incident/incident-lead.ts'
import type { AwaitedReview } from '../../status/incident/postmortem-review.ts'
import { readAwaitedReviews } from '../../status/incident/postmortem-review.ts'
import type { PageState, ServiceState } from '../../status/page/page-state.ts'
import type { Knowledge } from '../../status/service/what-is-known.ts'
import type { Author } from '../../status/timeline/authors.ts'
import { readAuthors } from '../../status/timeline/authors.ts'
import { IncidentMark, ServiceMark } from '../../status-page/html/status-mark.tsx'
import { Span, Time } from '../../status-page/html/time.tsx'
import { impactLabels } from '../../status-page/view.ts'
import { readCurrentState } from './frame/current-state.ts'
import { FirstStep } from './frame/first-step.tsx'
import { knownInWords } from './frame/known-in-words.ts'
import { readKnown } from './frame/read-known.ts'
import type { Screen, Screens } from './frame/screen.tsx'
import { HiddenIncidents, readHiddenIncidents } from './incidents/hidden-incident.tsx'
import { leadInWords } from './incidents/incident-lead.tsx'
import { authorName } from './incidents/timeline-parts.tsx'
import { kinds, monitorStateNames } from './monitors/monitor-words.ts'

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
    const [state, troubles, pending, hidden, reviews] = await Promise.all([
      readCurrentState(screen),
      listUnhealthyMonitors(ctx, organization.id, MAX_MONITORS),
      listPendingMonitors(ctx, organization.id, MAX_MONITORS),
      readHiddenIncidents(screen),
      readAwaitedReviews(ctx.db, organization.id, MAX_REVIEWS),
    ])
    const newest = state.incidents.flatMap(({ updates }) => updates[0]?.id ?? [])
    const incidentIds = state.incidents.map(({ id }) => id)
    const [authors, leads] = await Promise.all([
      readAuthors(ctx.db, organization.id, incidentIds, newest),
      readLeads(ctx.db, incidentIds),
    ])
    const known = await readKnown(screen, state, troubles)
    const leadOf = new Map(leads.map((lead) => [lead.incidentId, lead]))
    const content = <Now {...{ screen, state, troubles, authors, leads: leadOf, known, pending, hidden, reviews }} />
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
  known,
  pending,
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
  /** What is known of all services and monitors. */
  readonly known: Knowledge
  /** The monitors that wait for a first result. */
  readonly pending: readonly PendingMonitor[]
  /** Suggestions and drafts. */
  readonly hidden: Awaited<ReturnType<typeof readHiddenIncidents>>
  readonly reviews: readonly AwaitedReview[]
}) {
  const affected = state.services.filter(({ shown, unknownSince }) =>
    shown === 'UNKNOWN' ? unknownSince !== null : shown !== 'OPERATIONAL',
  )
  const isCalm = state.incidents.length === 0 && hidden.length === 0 && affected.length === 0 && troubles.length === 0
  const sentence = knownInWords(known)
  return (
    <>
      {state.services.length === 0 ? (
        <FirstStep screen={screen} path="start" text="Watch a website">
          Nothing is monitored yet.
        </FirstStep>
      ) : null}
      {isCalm && sentence !== null ? (
        <>
          <p class={known.kind === 'OPERATIONAL' ? 'all-clear' : 'lead'}>{sentence}</p>
          <p class="actions">
            <a href={`/status/${screen.organization.slug}`}>See your status page</a>
          </p>
        </>
      ) : null}
      <HiddenIncidents {...{ screen, incidents: hidden }} />
      <Incidents {...{ screen, state, authors, leads }} />
      <Affected {...{ screen, services: affected }} />
      <Troubles {...{ screen, troubles }} />
      <Pending {...{ screen, pending }} />
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

/** Lists the monitors without a first result, with what their probes have said so far. */
function Pending({ screen, pending }: { readonly screen: Screen; readonly pending: readonly PendingMonitor[] }) {
  if (pending.length === 0) return null
  return (
    <section id="pending">
      <h2>Waiting for a first result</h2>
      <ul class="rows">
        {pending.map((monitor) => (
          <li id={monitor.id}>
            <a href={screen.path(`monitors/${monitor.id}`)}>{monitor.name}</a>
            <span class="row-facts">
              {kinds[monitor.kind].name} · {firstResultOf(monitor, screen)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Says what a first probe is doing: running, or what it found that decides nothing yet. */
function firstResultOf({ kind, watches }: PendingMonitor, { zone }: Screen) {
  const probed = watches.find(({ lastProbedAt }) => lastProbedAt !== null)
  if (probed?.lastProbedAt)
    return (
      <>
        No result yet · last probe <Time at={probed.lastProbedAt} zone={zone} />
        {probed.lastMessage ? `: ${probed.lastMessage}` : null}
      </>
    )
  if (kind === 'HEARTBEAT') return 'It has not reported yet'
  return kind === 'GROUP' ? 'Its monitors have no result yet' : 'The first probe is running'
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
