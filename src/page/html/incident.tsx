import { plainText } from '../../markdown.ts'
import type { ShownIncident } from '../view.ts'
import { impactWords, incidentWords, namesOf, serviceWords } from '../view.ts'
import { durationWords, type Zone } from '../zone.ts'
import type { Served } from './frame.tsx'
import { Frame, Freshness } from './frame.tsx'
import { organizationData } from './head.tsx'
import { IncidentMark, Shape } from './mark.tsx'
import { Time } from './time.tsx'
import { Entry, Message, Timeline } from './timeline.tsx'

/** The path of an incident's own page, after the owner's base. */
export function incidentPath(id: string): string {
  return `/incidents/${id}`
}

/** An incident that is open, as the overview shows it. */
export function OpenIncident({ incident, served }: { readonly incident: ShownIncident; readonly served: Served }) {
  const path = served.base + incidentPath(incident.id)
  return (
    <article id={incident.id} class="incident" data-impact={incident.impact} data-says={`Incident: ${incident.title}.`}>
      <h3>
        <a href={path}>{incident.title}</a>
      </h3>
      <Facts incident={incident} zone={served.zone} />
      <Updates incident={incident} served={served} />
      {incident.updates.length < incident.updateCount ? (
        <p class="more">
          <a href={path}>All {incident.updateCount} updates</a>
        </p>
      ) : null}
    </article>
  )
}

/** An incident among others of the past: how long it lasted, and the last word on it. */
export function PastIncident({ incident, served }: { readonly incident: ShownIncident; readonly served: Served }) {
  const [last] = incident.updates
  const path = served.base + incidentPath(incident.id)
  return (
    <article id={incident.id} class="incident past" data-impact={incident.impact}>
      <h4>
        <a href={path}>{incident.title}</a>
      </h4>
      <Facts incident={incident} zone={served.zone} />
      {last === undefined ? null : <Message said={last.said} path={path} />}
    </article>
  )
}

interface IncidentPageProps {
  readonly incident: ShownIncident
  readonly served: Served
  /** Whether the timeline has entries older than those that are shown. */
  readonly hasOlder: boolean
}

/** The page of one incident, with its timeline: whole, or a page of it. */
export function IncidentPage({ incident, served, hasOlder }: IncidentPageProps) {
  const { owner } = served
  const path = served.base + incidentPath(incident.id)
  const { updates, updateCount } = incident
  return (
    <Frame
      served={served}
      title={`${incident.title} · ${owner.name} status`}
      description={`${incidentWords[incident.status]}: ${incident.title}, an incident at ${owner.name}.`}
      path={incidentPath(incident.id)}
      picture={`${incidentPath(incident.id)}/picture.png`}
      data={dataOf(incident, served)}
    >
      <article id={incident.id} class="incident whole" data-impact={incident.impact}>
        <p class="eyebrow">Incident</p>
        <h1>{incident.title}</h1>
        <Freshness />
        <Facts incident={incident} zone={served.zone} />
        <h2>Timeline</h2>
        <Updates incident={incident} served={served} />
        {updates.length < updateCount ? (
          <nav class="paging" aria-label="Timeline">
            {hasOlder ? <a href={`${path}?before=${updates.at(-1)?.id}`}>Older updates</a> : null}
            <a href={path}>The newest of {updateCount} updates</a>
          </nav>
        ) : null}
      </article>
    </Frame>
  )
}

/** An incident in the words of https://schema.org: a report that grows while it happens. */
function dataOf({ title, startedAt, resolvedAt, updates }: ShownIncident, { owner }: Served) {
  const of = organizationData(owner)
  return {
    '@type': 'LiveBlogPosting',
    headline: title,
    datePublished: (updates.at(-1)?.createdAt ?? startedAt).toISOString(),
    dateModified: (updates[0]?.editedAt ?? updates[0]?.createdAt ?? startedAt).toISOString(),
    coverageStartTime: startedAt.toISOString(),
    ...(resolvedAt && { coverageEndTime: resolvedAt.toISOString() }),
    author: of,
    about: of,
    liveBlogUpdate: updates.map(({ status, createdAt, said }) => ({
      '@type': 'BlogPosting',
      headline: incidentWords[status],
      articleBody: plainText(said ?? ''),
      datePublished: createdAt.toISOString(),
    })),
  }
}

/** What an incident does, or did, and when. Where an open one stands is said by its newest update. */
function Facts({ incident, zone }: { readonly incident: ShownIncident; readonly zone: Zone }) {
  const { status, impact, startedAt, resolvedAt, services, serviceCount } = incident
  if (resolvedAt === null) {
    return (
      <>
        <p class="meta">
          <span>
            {impactWords[impact]} since <Time at={startedAt} zone={zone} />
          </span>
        </p>
        <Affected services={services} serviceCount={serviceCount} />
      </>
    )
  }
  return (
    <>
      <p class="meta">
        <IncidentMark status={status} />
        <span>{impactWords[impact]}</span>
        <span>
          <Time at={startedAt} zone={zone} />, for {durationWords(resolvedAt.getTime() - startedAt.getTime())}
        </span>
      </p>
      {services.length === 0 ? null : <p class="concerns">Affected {namesOf({ services, serviceCount })}</p>}
    </>
  )
}

function Affected({ services, serviceCount }: Pick<ShownIncident, 'services' | 'serviceCount'>) {
  if (services.length === 0) return null
  return (
    <ul class="affected" aria-label="Affected services">
      {services.map(({ name, status }) => (
        <li data-status={status}>
          <span class="mark">
            <Shape of={status} />
            {name}: {serviceWords[status].toLowerCase()}
          </span>
        </li>
      ))}
      {services.length < serviceCount ? <li>and {serviceCount - services.length} more</li> : null}
    </ul>
  )
}

function Updates({ incident, served }: { readonly incident: ShownIncident; readonly served: Served }) {
  return (
    <Timeline>
      {incident.updates.map((update) => (
        <Entry
          of={incident.title}
          update={update}
          word={incidentWords[update.status]}
          mark={<IncidentMark status={update.status} />}
          path={served.base + incidentPath(incident.id)}
          zone={served.zone}
        />
      ))}
    </Timeline>
  )
}
