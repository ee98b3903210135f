import { plainText } from '../../core/markdown.ts'
import { formatDuration, type Zone } from '../time-format.ts'
import type { IncidentView } from '../view.ts'
import { impactLabels, incidentStatusLabels, joinNames, serviceStatusLabels } from '../view.ts'
import { organizationData } from './head.tsx'
import type { PageContext } from './page-layout.tsx'
import { LiveState, PageLayout } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { IncidentMark, Shape } from './status-mark.tsx'
import { Time } from './time.tsx'
import { Message, Timeline, TimelineItem } from './timeline.tsx'

/** Returns the path of an incident's page, after the owner's base. */
function incidentPath(id: string): string {
  return `/incidents/${id}`
}

/** Renders an open incident on the overview. */
export function OpenIncident({
  incident,
  context,
}: {
  readonly incident: IncidentView
  readonly context: PageContext
}) {
  const path = context.base + incidentPath(incident.id)
  return (
    <article
      id={incident.id}
      class="incident"
      data-impact={incident.impact}
      data-announce={`Incident: ${incident.title}.`}
    >
      <h3>
        <a href={path}>{incident.title}</a>
      </h3>
      <Facts incident={incident} zone={context.zone} />
      <Updates incident={incident} context={context} />
      {incident.updates.length < incident.updateCount ? (
        <p class="more">
          <a href={path}>All {incident.updateCount} updates</a>
        </p>
      ) : null}
    </article>
  )
}

/** Renders a past incident in a list: its duration and its last update. */
export function PastIncident({
  incident,
  context,
}: {
  readonly incident: IncidentView
  readonly context: PageContext
}) {
  const [last] = incident.updates
  const path = context.base + incidentPath(incident.id)
  return (
    <Part>
      <article id={incident.id} class="incident past" data-impact={incident.impact}>
        <h4>
          <a href={path}>{incident.title}</a>
        </h4>
        <Facts incident={incident} zone={context.zone} />
        {last === undefined ? null : <Message body={last.body} path={path} />}
      </article>
    </Part>
  )
}

interface IncidentPageProps {
  readonly incident: IncidentView
  readonly context: PageContext
  /** Whether the timeline has updates older than those shown. */
  readonly hasOlder: boolean
}

/** Renders the page of one incident with one page of its timeline. */
export function IncidentPage({ incident, context, hasOlder }: IncidentPageProps) {
  const { owner } = context
  const path = context.base + incidentPath(incident.id)
  const { updates, updateCount } = incident
  return (
    <PageLayout
      context={context}
      title={`${incident.title} · ${owner.name} status`}
      description={`${incidentStatusLabels[incident.status]}: ${incident.title}, an incident at ${owner.name}.`}
      path={incidentPath(incident.id)}
      image={`${incidentPath(incident.id)}/picture.png`}
      data={dataOf(incident, context)}
    >
      <article id={incident.id} class="incident whole" data-impact={incident.impact}>
        <p class="eyebrow">Incident</p>
        <h1>{incident.title}</h1>
        <LiveState />
        <Facts incident={incident} zone={context.zone} />
        <h2>Timeline</h2>
        <Updates incident={incident} context={context} />
        {updates.length < updateCount ? (
          <nav class="paging" aria-label="Timeline">
            {hasOlder ? <a href={`${path}?before=${updates.at(-1)?.id}`}>Older updates</a> : null}
            <a href={path}>Newest of {updateCount} updates</a>
          </nav>
        ) : null}
      </article>
    </PageLayout>
  )
}

/** Returns an incident as a schema.org `LiveBlogPosting`. */
function dataOf({ title, startedAt, resolvedAt, updates }: IncidentView, context: PageContext) {
  const of = organizationData(context)
  return {
    '@type': 'LiveBlogPosting',
    headline: title,
    datePublished: (updates.at(-1)?.createdAt ?? startedAt).toISOString(),
    dateModified: (updates[0]?.editedAt ?? updates[0]?.createdAt ?? startedAt).toISOString(),
    coverageStartTime: startedAt.toISOString(),
    ...(resolvedAt && { coverageEndTime: resolvedAt.toISOString() }),
    author: of,
    about: of,
    liveBlogUpdate: updates.map(({ status, createdAt, body }) => ({
      '@type': 'BlogPosting',
      headline: incidentStatusLabels[status],
      articleBody: plainText(body ?? ''),
      datePublished: createdAt.toISOString(),
    })),
  }
}

/** Renders impact, time and affected services of an incident. The newest update shows the status of an open one. */
function Facts({ incident, zone }: { readonly incident: IncidentView; readonly zone: Zone }) {
  const { status, impact, startedAt, resolvedAt, services, serviceCount } = incident
  if (resolvedAt === null) {
    return (
      <>
        <p class="meta">
          <span>
            {impactLabels[impact]} since <Time at={startedAt} zone={zone} />
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
        <span>{impactLabels[impact]}</span>
        <span>
          <Time at={startedAt} zone={zone} />, lasted {formatDuration(resolvedAt.getTime() - startedAt.getTime())}
        </span>
      </p>
      {services.length === 0 ? null : <p class="concerns">Affected: {joinNames({ services, serviceCount })}</p>}
    </>
  )
}

function Affected({ services, serviceCount }: Pick<IncidentView, 'services' | 'serviceCount'>) {
  if (services.length === 0) return null
  return (
    <ul class="affected" aria-label="Affected services">
      {services.map(({ name, status }) => (
        <li data-status={status}>
          <span class="mark">
            <Shape of={status} />
            {name}: {serviceStatusLabels[status].toLowerCase()}
          </span>
        </li>
      ))}
      {services.length < serviceCount ? <li>and {serviceCount - services.length} more</li> : null}
    </ul>
  )
}

function Updates({ incident, context }: { readonly incident: IncidentView; readonly context: PageContext }) {
  return (
    <Timeline>
      {incident.updates.map((update) => (
        <TimelineItem
          of={incident.title}
          update={update}
          word={incidentStatusLabels[update.status]}
          mark={<IncidentMark status={update.status} />}
          path={context.base + incidentPath(incident.id)}
          zone={context.zone}
        />
      ))}
    </Timeline>
  )
}
