import type { PageStatus } from '../../status/shown-status.ts'
import type { ShownPast } from '../past.ts'
import type { ShownGroup, ShownIncident, ShownMaintenance, ShownSection, ShownService } from '../view.ts'
import { daysOf, headline, sectionsOf, serviceWords } from '../view.ts'
import type { Served } from './frame.tsx'
import { Frame, Freshness } from './frame.tsx'
import { OpenIncident, PastIncident } from './incident.tsx'
import { Maintenance } from './maintenance.tsx'
import { ServiceMark, Shape } from './mark.tsx'
import { Legend, Past as ServicePast } from './past.tsx'

/** What the overview shows. */
export interface OverviewProps {
  readonly served: Served
  readonly status: PageStatus
  readonly groups: readonly ShownGroup[]
  readonly services: readonly ShownService[]
  /** Of those services that are monitored, by their ids. */
  readonly pasts: ReadonlyMap<string, ShownPast>
  readonly openIncidents: readonly ShownIncident[]
  /** Those that run and those to come, the soonest first. */
  readonly maintenances: readonly ShownMaintenance[]
  /** Those that are over, newest first. */
  readonly pastIncidents: readonly ShownIncident[]
  /** How far back `pastIncidents` goes. */
  readonly pastDays: number
}

/** With more services than this, groups in which all is well are folded. */
const FOLDED_FROM = 20

/** The page at `/status/{slug}`: how everything is in one sentence, then what is wrong, then the services, then the past. */
export function Overview(props: OverviewProps) {
  const { served, status, services, openIncidents } = props
  const { owner } = served
  const sentence = headline(status, services, openIncidents.length, served.zone)
  const { shown } = status
  const running = props.maintenances.filter((maintenance) => maintenance.status !== 'SCHEDULED')
  const upcoming = props.maintenances.filter((maintenance) => maintenance.status === 'SCHEDULED')
  return (
    <Frame
      served={served}
      title={`${status.description} · ${owner.name} status`}
      description={`${sentence} Live status, incidents and planned maintenance of ${owner.name}.`}
      path=""
    >
      <section id="state" class="state" data-status={shown} data-says={sentence}>
        <span class="mark">
          <Shape of={shown} />
        </span>
        <h1>{sentence}</h1>
        <Freshness />
      </section>
      {openIncidents.length === 0 ? null : (
        <section id="open-incidents">
          <h2>Open incidents</h2>
          {openIncidents.map((incident) => (
            <OpenIncident incident={incident} served={served} />
          ))}
        </section>
      )}
      <Maintenances id="running" heading="Maintenance in progress" maintenances={running} served={served} />
      <Services {...props} />
      <Maintenances id="upcoming" heading="Planned maintenance" maintenances={upcoming} served={served} />
      <Past {...props} />
    </Frame>
  )
}

function Maintenances(props: {
  readonly id: string
  readonly heading: string
  readonly maintenances: readonly ShownMaintenance[]
  readonly served: Served
}) {
  if (props.maintenances.length === 0) return null
  return (
    <section id={props.id}>
      <h2>{props.heading}</h2>
      {props.maintenances.map((maintenance) => (
        <Maintenance maintenance={maintenance} served={props.served} />
      ))}
    </section>
  )
}

function Services(props: OverviewProps) {
  const { groups, services, pasts, served } = props
  return (
    <section id="services">
      <h2>Services</h2>
      {services.length === 0 ? (
        <p>{served.owner.name} has not named its services yet. Incidents are told here all the same.</p>
      ) : (
        sectionsOf(groups, services).map((section) => (
          <Section
            {...props}
            section={section}
            folded={services.length > FOLDED_FROM && section.shown === 'OPERATIONAL'}
          />
        ))
      )}
      {pasts.size === 0 ? null : <Legend {...served} />}
    </section>
  )
}

interface SectionProps extends Pick<OverviewProps, 'pasts' | 'served'> {
  readonly section: ShownSection
  readonly folded: boolean
}

function Section({ section, folded, ...props }: SectionProps) {
  const { group, shown, services } = section
  if (group === null) return <ServiceList {...props} services={services} />
  return (
    <details id={group.id} class="group" data-status={shown} open={!folded}>
      <summary>
        <h3>{group.name}</h3>
        <ServiceMark status={shown} />
      </summary>
      {group.description === '' ? null : <p class="about">{group.description}</p>}
      <ServiceList {...props} services={services} />
    </details>
  )
}

function ServiceList({ services, pasts, served }: Pick<OverviewProps, 'services' | 'pasts' | 'served'>) {
  return (
    <ul class="services">
      {services.map(({ id, name, description, shown, unknownSince }) => {
        const past = pasts.get(id)
        return (
          <li id={id} data-status={shown} data-says={`${name}: ${serviceWords[shown]}.`}>
            <span class="name">{name}</span>
            <ServiceMark status={shown} />
            {unknownSince && <p class="about">Monitoring has been silent since {served.zone.time(unknownSince)}.</p>}
            {description === '' ? null : <p class="about">{description}</p>}
            {past && <ServicePast id={id} name={name} past={past} served={served} />}
          </li>
        )
      })}
    </ul>
  )
}

function Past({ pastIncidents, pastDays, served }: OverviewProps) {
  const days = daysOf(pastIncidents, served.zone, ({ startedAt }) => startedAt)
  return (
    <section id="past">
      <h2>Past incidents</h2>
      {days.map((day) => (
        <section id={`day-${day.key}`} class="day">
          <h3>{day.name}</h3>
          {day.begun.map((incident) => (
            <PastIncident incident={incident} served={served} />
          ))}
        </section>
      ))}
      <p class="about">
        {days.length === 0 ? 'No incidents' : 'No others'} in the last {pastDays} days.{' '}
        <a href={`${served.base}/history`}>Incident history</a>
      </p>
    </section>
  )
}
