import { plainText } from '../../core/markdown/markdown.ts'
import { isolate } from '../../language/isolate.ts'
import type { PublishedPostmortem } from '../../status/incident/postmortem.ts'
import { documentPath } from '../page-address.ts'
import type { IncidentView } from '../view.ts'
import { joinNames } from '../view.ts'
import { organizationData } from './head.tsx'
import { attributesOf, Sentence } from './owners-text.tsx'
import type { PageContext } from './page-layout.tsx'
import { LiveState, PageLayout } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { IncidentMark, Shape } from './status-mark.tsx'
import { SoFar, Time } from './time.tsx'
import { Message, Timeline, TimelineItem, TimelinePaging } from './timeline.tsx'

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
      data-announce={context.words.incident.announced(incident.title)}
    >
      <h3 {...attributesOf(incident, context)}>
        <a href={path}>{incident.title}</a>
      </h3>
      <Facts incident={incident} context={context} />
      <Updates incident={incident} context={context} />
      {incident.updates.length < incident.updateCount ? (
        <p class="more">
          <a href={path}>{context.words.incident.allUpdates(incident.updateCount)}</a>
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
        <h4 {...attributesOf(incident, context)}>
          <a href={path}>{incident.title}</a>
        </h4>
        <Facts incident={incident} context={context} />
        {last === undefined ? null : (
          <Message body={last.body} path={path} words={context.words} own={attributesOf(last, context)} />
        )}
      </article>
    </Part>
  )
}

interface IncidentPageProps {
  readonly incident: IncidentView
  readonly context: PageContext
  /** Whether the timeline has updates older than those shown. */
  readonly hasOlder: boolean
  /** null: none is published, or older updates are shown. */
  readonly postmortem: PublishedPostmortem | null
}

/** Renders the page of one incident with one page of its timeline. */
export function IncidentPage({ incident, context, hasOlder, postmortem }: IncidentPageProps) {
  const { owner, words } = context
  const path = context.base + incidentPath(incident.id)
  const { updates, updateCount } = incident
  return (
    <PageLayout
      context={context}
      title={words.page.title(incident.title, owner.name)}
      description={words.incident.description(words.incidentStatus[incident.status], incident.title, owner.name)}
      path={incidentPath(incident.id)}
      image={`${incidentPath(incident.id)}/picture.png`}
      data={dataOf(incident, context)}
    >
      <article id={incident.id} class="incident whole" data-impact={incident.impact}>
        <p class="eyebrow">{words.incident.incident}</p>
        <h1 {...attributesOf(incident, context)}>{incident.title}</h1>
        <LiveState words={words} />
        <Facts incident={incident} context={context} />
        {incident.resolvedAt === null ? (
          <p class="notify">
            <a href={documentPath(context, `/subscribe?incident=${incident.id}`)}>{words.subscribe.incident}</a>
          </p>
        ) : null}
        {postmortem === null ? null : <PostmortemSection {...{ postmortem, context }} />}
        <h2>{words.incident.timeline}</h2>
        <Updates incident={incident} context={context} />
        <TimelinePaging {...{ updates, updateCount, hasOlder, path, words }} />
      </article>
    </PageLayout>
  )
}

function PostmortemSection({
  postmortem,
  context,
}: {
  readonly postmortem: PublishedPostmortem
  readonly context: PageContext
}) {
  const { words, zone } = context
  return (
    <Part>
      <section id="postmortem" aria-labelledby="postmortem-title" data-announce={words.incident.postmortem}>
        <h2 id="postmortem-title">{words.incident.postmortem}</h2>
        <p class="meta">
          <Time at={postmortem.publishedAt} zone={zone} />
        </p>
        <Message body={postmortem.html} path={null} words={words} own={attributesOf(postmortem, context)} />
      </section>
    </Part>
  )
}

/** Returns an incident as a schema.org `LiveBlogPosting`. */
function dataOf({ title, startedAt, resolvedAt, updates }: IncidentView, context: PageContext) {
  const of = organizationData(context)
  return {
    '@type': 'LiveBlogPosting',
    inLanguage: context.words.tag,
    headline: title,
    datePublished: (updates.at(-1)?.createdAt ?? startedAt).toISOString(),
    dateModified: (updates[0]?.editedAt ?? updates[0]?.createdAt ?? startedAt).toISOString(),
    coverageStartTime: startedAt.toISOString(),
    ...(resolvedAt && { coverageEndTime: resolvedAt.toISOString() }),
    author: of,
    about: of,
    liveBlogUpdate: updates.map(({ status, createdAt, body }) => ({
      '@type': 'BlogPosting',
      headline: context.words.incidentStatus[status],
      articleBody: plainText(body ?? ''),
      datePublished: createdAt.toISOString(),
    })),
  }
}

interface FactsProps {
  readonly incident: IncidentView
  readonly context: PageContext
}

/** Renders impact, time and affected services of an incident. The newest update shows the status of an open one. */
function Facts({ incident, context }: FactsProps) {
  const { zone, words } = context
  const { status, impact, startedAt, resolvedAt, services, serviceCount, importedFrom } = incident
  if (resolvedAt === null) {
    return (
      <>
        <p class="meta">
          <span>{words.incident.since(words.impact[impact], <Time at={startedAt} zone={zone} />)}</span>
          <SoFar since={startedAt} />
        </p>
        <Affected services={services} serviceCount={serviceCount} context={context} />
      </>
    )
  }
  return (
    <>
      <p class="meta">
        <IncidentMark status={status} words={words} />
        <span>{words.impact[impact]}</span>
        <span>
          {words.incident.lasted(<Time at={startedAt} zone={zone} />, resolvedAt.getTime() - startedAt.getTime())}
        </span>
        {importedFrom === null ? null : <span>{words.incident.imported(importedFrom)}</span>}
      </p>
      {services.length === 0 ? null : (
        <p class="concerns">
          <Sentence
            text={words.incident.affected(joinNames({ services, serviceCount }, words, isolate))}
            context={context}
          />
        </p>
      )}
    </>
  )
}

interface AffectedProps extends Pick<IncidentView, 'services' | 'serviceCount'> {
  readonly context: PageContext
}

function Affected({ services, serviceCount, context }: AffectedProps) {
  const { words } = context
  if (services.length === 0) return null
  return (
    <ul class="affected" aria-label={words.incident.affectedServices}>
      {services.map(({ name, status }) => (
        <li data-status={status}>
          <span class="mark">
            <Shape of={status} />
            <Sentence text={words.headline.wrong(isolate(name), words.status[status])} context={context} />
          </span>
        </li>
      ))}
      {services.length < serviceCount ? <li>{words.incident.more(serviceCount - services.length)}</li> : null}
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
          word={context.words.incidentStatus[update.status]}
          mark={<IncidentMark status={update.status} words={context.words} />}
          path={context.base + incidentPath(incident.id)}
          files={`${context.root}/files`}
          zone={context.zone}
          words={context.words}
          own={attributesOf(update, context)}
        />
      ))}
    </Timeline>
  )
}
