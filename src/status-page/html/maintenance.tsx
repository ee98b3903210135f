import { isolate } from '../../language/isolate.ts'
import { ruleInWords } from '../../status/maintenance/recurrence.ts'
import type { Repetition } from '../../status/page/page-state-query.ts'
import { maintenancePath } from '../timeline-queries.ts'
import type { MaintenanceView } from '../view.ts'
import { joinNames } from '../view.ts'
import { attributesOf, Sentence } from './owners-text.tsx'
import type { PageContext } from './page-layout.tsx'
import { LiveState, PageLayout } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { MaintenanceMark } from './status-mark.tsx'
import { Span } from './time.tsx'
import { Message, Timeline, TimelineItem, TimelinePaging } from './timeline.tsx'

interface MaintenanceProps {
  readonly maintenance: MaintenanceView
  readonly context: PageContext
}

/** Renders a running or upcoming maintenance. */
export function Maintenance({ maintenance, context }: MaintenanceProps) {
  const { id, title, status } = maintenance
  const { words } = context
  const announcement = words.maintenance.announced(words.maintenanceStatus[status], title)
  return (
    <article id={id} class="incident" data-impact="MAINTENANCE" data-announce={announcement}>
      <h3 {...attributesOf(maintenance, context)}>
        <a href={context.base + maintenancePath(id)}>{title}</a>
      </h3>
      <Facts maintenance={maintenance} context={context} />
      <Updates maintenance={maintenance} context={context} />
    </article>
  )
}

/** Renders a past maintenance in a list: its last update, and its newest updates. */
export function PastMaintenance({ maintenance, context }: MaintenanceProps) {
  const { words } = context
  const { id, title, updates, updateCount } = maintenance
  const last = updates.find(({ body }) => body !== '')
  const path = context.base + maintenancePath(id)
  return (
    <Part>
      <article id={id} class="incident past" data-impact="MAINTENANCE">
        <h4 {...attributesOf(maintenance, context)}>
          <a href={path}>{title}</a>
        </h4>
        <Facts maintenance={maintenance} context={context} kind={words.maintenance.maintenance} />
        {last === undefined ? null : (
          <Message body={last.body} path={path} words={words} own={attributesOf(last, context)} />
        )}
        {updateCount === 1 ? null : (
          <details id={`updates-${id}`}>
            <summary>
              {updates.length < updateCount
                ? words.incident.newestUpdates(updates.length, updateCount)
                : words.incident.allUpdates(updateCount)}
            </summary>
            <Updates maintenance={maintenance} context={context} />
          </details>
        )}
      </article>
    </Part>
  )
}

interface MaintenancePageProps extends MaintenanceProps {
  /** Whether the timeline has updates older than those shown. */
  readonly hasOlder: boolean
}

/** Renders the page of one maintenance with one page of its timeline. */
export function MaintenancePage({ maintenance, context, hasOlder }: MaintenancePageProps) {
  const { owner, words } = context
  const { id, title, status, updates, updateCount } = maintenance
  const path = context.base + maintenancePath(id)
  return (
    <PageLayout
      context={context}
      title={words.page.title(words.maintenance.titled(title), owner.name)}
      description={words.maintenance.description(words.maintenanceStatus[status], title, owner.name)}
      path={maintenancePath(id)}
      image={`${maintenancePath(id)}/picture.png`}
    >
      <article id={id} class="incident whole" data-impact="MAINTENANCE">
        <p class="eyebrow">{words.maintenance.maintenance}</p>
        <h1 {...attributesOf(maintenance, context)}>{title}</h1>
        <LiveState words={words} />
        <Facts maintenance={maintenance} context={context} />
        <h2>{words.incident.timeline}</h2>
        <Updates maintenance={maintenance} context={context} />
        <TimelinePaging {...{ updates, updateCount, hasOlder, path, words }} />
      </article>
    </PageLayout>
  )
}

/**
 * Renders status, time and affected services of a maintenance; `kind` distinguishes it from incidents in the same list.
 */
function Facts({ maintenance, context, kind }: MaintenanceProps & { readonly kind?: string }) {
  const { zone, words } = context
  const { status, startsAt, endsAt, services, serviceCount, repeats, importedFrom } = maintenance
  return (
    <>
      <p class="meta">
        <MaintenanceMark status={status} words={words} />
        {kind === undefined ? null : <span>{kind}</span>}
        <Span from={startsAt} to={endsAt} zone={zone} words={words} />
        <span>{words.duration(endsAt.getTime() - startsAt.getTime())}</span>
        {importedFrom === null ? null : <span>{words.incident.imported(importedFrom)}</span>}
      </p>
      {repeats ? <Repeats repeats={repeats} zone={zone} words={words} /> : null}
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

/** Renders how a maintenance repeats, with the time zone if it is not the page's. */
function Repeats({ repeats, zone, words }: Pick<PageContext, 'zone' | 'words'> & { readonly repeats: Repetition }) {
  const { rule, firstStart, timeZone } = repeats
  return (
    <p class="concerns">
      {ruleInWords(rule, firstStart, words)}
      {timeZone === zone.name ? '' : ` (${timeZone})`}
    </p>
  )
}

function Updates({ maintenance: { id, title, updates }, context }: MaintenanceProps) {
  const { zone, words } = context
  return (
    <Timeline>
      {updates.map((update) => (
        <TimelineItem
          of={title}
          update={update}
          word={words.maintenanceStatus[update.status]}
          mark={<MaintenanceMark status={update.status} words={words} />}
          path={context.base + maintenancePath(id)}
          zone={zone}
          words={words}
          own={attributesOf(update, context)}
        />
      ))}
    </Timeline>
  )
}
