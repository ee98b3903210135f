import type { Zone } from '../time-format.ts'
import { formatDuration } from '../time-format.ts'
import type { MaintenanceView } from '../view.ts'
import { joinNames, maintenanceStatusLabels } from '../view.ts'
import type { PageContext } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { MaintenanceMark } from './status-mark.tsx'
import { Span } from './time.tsx'
import { Message, Timeline, TimelineItem } from './timeline.tsx'

interface MaintenanceProps {
  readonly maintenance: MaintenanceView
  readonly context: PageContext
}

/** Renders a running or upcoming maintenance. */
export function Maintenance({ maintenance, context: { zone } }: MaintenanceProps) {
  const { id, title, status } = maintenance
  const announcement = `Maintenance, ${maintenanceStatusLabels[status].toLowerCase()}: ${title}.`
  return (
    <article id={id} class="incident" data-impact="MAINTENANCE" data-announce={announcement}>
      <h3>{title}</h3>
      <Facts maintenance={maintenance} zone={zone} />
      <Updates maintenance={maintenance} zone={zone} />
    </article>
  )
}

/** Renders a past maintenance in a list: its last update, and all of them, because a maintenance has no page of its own. */
export function PastMaintenance({ maintenance, context: { zone } }: MaintenanceProps) {
  const { id, title, updates, updateCount } = maintenance
  const last = updates.find(({ body }) => body !== '')
  return (
    <Part>
      <article id={id} class="incident past" data-impact="MAINTENANCE">
        <h4>{title}</h4>
        <Facts maintenance={maintenance} zone={zone} kind="Maintenance" />
        {last === undefined ? null : <Message body={last.body} path={null} />}
        {updateCount === 1 ? null : (
          <details id={`updates-${id}`}>
            <summary>
              {updates.length < updateCount ? `Newest ${updates.length} of` : 'All'} {updateCount} updates
            </summary>
            <Updates maintenance={maintenance} zone={zone} />
          </details>
        )}
      </article>
    </Part>
  )
}

interface PartProps {
  readonly maintenance: MaintenanceView
  readonly zone: Zone
}

/** Renders status, time and affected services of a maintenance; `kind` distinguishes it from incidents in the same list. */
function Facts({ maintenance, zone, kind }: PartProps & { readonly kind?: string }) {
  const { status, startsAt, endsAt, services, serviceCount } = maintenance
  return (
    <>
      <p class="meta">
        <MaintenanceMark status={status} />
        {kind === undefined ? null : <span>{kind}</span>}
        <Span from={startsAt} to={endsAt} zone={zone} />
        <span>{formatDuration(endsAt.getTime() - startsAt.getTime())}</span>
      </p>
      {services.length === 0 ? null : <p class="concerns">Affects: {joinNames({ services, serviceCount })}</p>}
    </>
  )
}

function Updates({ maintenance: { title, updates }, zone }: PartProps) {
  return (
    <Timeline>
      {updates.map((update) => (
        <TimelineItem
          of={title}
          update={update}
          word={maintenanceStatusLabels[update.status]}
          mark={<MaintenanceMark status={update.status} />}
          path={null}
          zone={zone}
        />
      ))}
    </Timeline>
  )
}
