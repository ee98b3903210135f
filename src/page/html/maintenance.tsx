import type { ShownMaintenance } from '../view.ts'
import { maintenanceWords } from '../view.ts'
import { durationWords } from '../zone.ts'
import type { Served } from './frame.tsx'
import { MaintenanceMark } from './mark.tsx'
import { Span } from './time.tsx'
import { Entry, Timeline } from './timeline.tsx'

/** A maintenance that runs or is to come. */
export function Maintenance({
  maintenance,
  served: { zone },
}: {
  readonly maintenance: ShownMaintenance
  readonly served: Served
}) {
  const { id, title, status, startsAt, endsAt, services, updates } = maintenance
  const says = `Maintenance, ${maintenanceWords[status].toLowerCase()}: ${title}.`
  return (
    <article id={id} class="incident" data-impact="MAINTENANCE" data-says={says}>
      <h3>{title}</h3>
      <p class="meta">
        <MaintenanceMark status={status} /> <Span from={startsAt} to={endsAt} zone={zone} />
        <span>{durationWords(endsAt.getTime() - startsAt.getTime())}</span>
      </p>
      {services.length === 0 ? null : <p class="concerns">Concerns {services.map(({ name }) => name).join(', ')}</p>}
      <Timeline>
        {updates.map((update) => (
          <Entry
            of={title}
            update={update}
            word={maintenanceWords[update.status]}
            mark={<MaintenanceMark status={update.status} />}
            zone={zone}
          />
        ))}
      </Timeline>
    </article>
  )
}
