import type { ShownMaintenance } from '../view.ts'
import { maintenanceWords, namesOf } from '../view.ts'
import type { Zone } from '../zone.ts'
import { durationWords } from '../zone.ts'
import type { Served } from './frame.tsx'
import { MaintenanceMark } from './mark.tsx'
import { Span } from './time.tsx'
import { Entry, Message, Timeline } from './timeline.tsx'

interface MaintenanceProps {
  readonly maintenance: ShownMaintenance
  readonly served: Served
}

/** A maintenance that runs or is to come. */
export function Maintenance({ maintenance, served: { zone } }: MaintenanceProps) {
  const { id, title, status } = maintenance
  const says = `Maintenance, ${maintenanceWords[status].toLowerCase()}: ${title}.`
  return (
    <article id={id} class="incident" data-impact="MAINTENANCE" data-says={says}>
      <h3>{title}</h3>
      <Facts maintenance={maintenance} zone={zone} />
      <Updates maintenance={maintenance} zone={zone} />
    </article>
  )
}

/** A maintenance among what happened in the past: the last word on it, and all of them, for it has no page of its own. */
export function PastMaintenance({ maintenance, served: { zone } }: MaintenanceProps) {
  const { id, title, updates, updateCount } = maintenance
  const last = updates.find(({ said }) => said !== '')
  return (
    <article id={id} class="incident past" data-impact="MAINTENANCE">
      <h4>{title}</h4>
      <Facts maintenance={maintenance} zone={zone} kind="Maintenance" />
      {last === undefined ? null : <Message said={last.said} path={null} />}
      {updateCount === 1 ? null : (
        <details id={`updates-${id}`}>
          <summary>
            {updates.length < updateCount ? `The newest ${updates.length} of` : 'All'} {updateCount} updates
          </summary>
          <Updates maintenance={maintenance} zone={zone} />
        </details>
      )}
    </article>
  )
}

interface PartProps {
  readonly maintenance: ShownMaintenance
  readonly zone: Zone
}

/** How far it has come, when it is or was, and what it concerns; `kind` is said where other things stand beside it. */
function Facts({ maintenance, zone, kind }: PartProps & { readonly kind?: string }) {
  const { status, startsAt, endsAt, services, serviceCount } = maintenance
  return (
    <>
      <p class="meta">
        <MaintenanceMark status={status} />
        {kind === undefined ? null : <span>{kind}</span>}
        <Span from={startsAt} to={endsAt} zone={zone} />
        <span>{durationWords(endsAt.getTime() - startsAt.getTime())}</span>
      </p>
      {services.length === 0 ? null : <p class="concerns">Concerns {namesOf({ services, serviceCount })}</p>}
    </>
  )
}

function Updates({ maintenance: { title, updates }, zone }: PartProps) {
  return (
    <Timeline>
      {updates.map((update) => (
        <Entry
          of={title}
          update={update}
          word={maintenanceWords[update.status]}
          mark={<MaintenanceMark status={update.status} />}
          path={null}
          zone={zone}
        />
      ))}
    </Timeline>
  )
}
