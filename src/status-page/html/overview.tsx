import type { Child } from 'hono/jsx'
import type { PageStatus } from '../../status/shown-status.ts'
import type { BarView } from '../service-history.ts'
import type { GroupView, IncidentView, MaintenanceView, SectionView, ServiceView } from '../view.ts'
import { groupByDay, groupServices, headline, shortLabel } from '../view.ts'
import { OpenIncident, PastIncident } from './incident.tsx'
import { Maintenance } from './maintenance.tsx'
import type { PageContext } from './page-layout.tsx'
import { LiveState, PageLayout } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { ServiceMark, Shape } from './status-mark.tsx'
import { Legend, UptimeLine } from './uptime.tsx'

/** The content of the overview. */
export interface OverviewProps {
  readonly context: PageContext
  readonly status: PageStatus
  readonly groups: readonly GroupView[]
  readonly services: readonly ServiceView[]
  /** The rendered services, by service id. */
  readonly items: ReadonlyMap<string, Child>
  /** The bars of groups, by group id. */
  readonly groupBars: ReadonlyMap<string, BarView>
  /** Whether any of them has a bar of days, and when its figures end. */
  readonly hasBars: boolean
  readonly readAt: Date
  readonly openIncidents: readonly IncidentView[]
  /** Running and upcoming maintenances, earliest first. */
  readonly maintenances: readonly MaintenanceView[]
  /** Resolved incidents, newest first. */
  readonly pastIncidents: readonly IncidentView[]
  /** Whether there are more of these than the page shows. */
  readonly hasMorePast: boolean
  /** The age limit of `pastIncidents`, in days. */
  readonly pastDays: number
}

/** Number of services above which operational groups are collapsed. */
const COLLAPSE_ABOVE = 20

/** Renders the page at `/status/{slug}`: headline, open incidents, maintenance, services and past incidents. */
export function Overview(props: OverviewProps) {
  const { context, status, services, openIncidents } = props
  const { owner } = context
  const sentence = headline(status, services, openIncidents.length, context.zone)
  const { shown } = status
  const running = props.maintenances.filter((maintenance) => maintenance.status !== 'SCHEDULED')
  const upcoming = props.maintenances.filter((maintenance) => maintenance.status === 'SCHEDULED')
  return (
    <PageLayout
      context={context}
      title={`${status.description} · ${owner.name} status`}
      description={`${sentence}. Live status, incidents and scheduled maintenance of ${owner.name}.`}
      path=""
    >
      <section id="state" class="state" data-status={shown} data-announce={`${sentence}.`}>
        <span class="mark">
          <Shape of={shown} />
        </span>
        <h1>{sentence}</h1>
        <LiveState />
      </section>
      {openIncidents.length === 0 ? null : (
        <section id="open-incidents">
          <h2>Open incidents</h2>
          {openIncidents.map((incident) => (
            <OpenIncident incident={incident} context={context} />
          ))}
        </section>
      )}
      <Maintenances id="running" heading="Maintenance in progress" maintenances={running} context={context} />
      <Services {...props} />
      <Maintenances id="upcoming" heading="Scheduled maintenance" maintenances={upcoming} context={context} />
      <PastIncidents {...props} />
    </PageLayout>
  )
}

function Maintenances(props: {
  readonly id: string
  readonly heading: string
  readonly maintenances: readonly MaintenanceView[]
  readonly context: PageContext
}) {
  if (props.maintenances.length === 0) return null
  return (
    <section id={props.id}>
      <h2>{props.heading}</h2>
      {props.maintenances.map((maintenance) => (
        <Maintenance maintenance={maintenance} context={props.context} />
      ))}
    </section>
  )
}

function Services(props: OverviewProps) {
  const { groups, services, items, context } = props
  return (
    <section id="services">
      <h2>Services</h2>
      {services.length >= FILTER_FROM && <Filter />}
      {services.length === 0 ? (
        <p>{context.owner.name} hasn’t added services yet. Incidents appear here.</p>
      ) : (
        groupServices(groups, services).map((section) => (
          <Section
            items={items}
            groupBars={props.groupBars}
            section={section}
            collapsed={services.length > COLLAPSE_ABOVE && section.shown === 'OPERATIONAL'}
          />
        ))
      )}
      {props.hasBars && <Legend zone={context.zone} readAt={props.readAt} />}
    </section>
  )
}

/** Number of services from which on visitors can filter them. */
const FILTER_FROM = 15

/** Renders the filter. “Only problems” needs no script, the text does. */
function Filter() {
  return (
    <Part>
      <search class="filter" id="filter" aria-label="Services" data-keep>
        <input
          type="search"
          id="filter-text"
          aria-label="Filter services by name"
          placeholder="Filter by name"
          hidden
        />
        <label>
          <input type="checkbox" id="only-problems" /> Only problems
        </label>
      </search>
    </Part>
  )
}

interface SectionProps extends Pick<OverviewProps, 'items' | 'groupBars'> {
  readonly section: SectionView
  readonly collapsed: boolean
}

function Section({ section, collapsed, items, groupBars }: SectionProps) {
  const { group, shown, services } = section
  if (group === null) return <ServiceList items={items} services={services} />
  const bar = groupBars.get(group.id)
  return (
    <details id={group.id} class="group" data-status={shown} open={!collapsed}>
      <Part>
        <summary class="line" data-status={shown}>
          <h3>{group.name}</h3>
          {bar && <UptimeLine bar={bar} />}
          <ServiceMark status={shown} label={groupLabel(section)} />
        </summary>
      </Part>
      {group.description === '' ? null : <p class="about">{group.description}</p>}
      <ServiceList items={items} services={services} />
    </details>
  )
}

/** A group shows only that something is unknown, not since when. */
const groupLabel = ({ shown, services }: SectionView) =>
  shortLabel({ shown, unknownSince: services.find(({ unknownSince }) => unknownSince !== null)?.unknownSince ?? null })

function ServiceList({ services, items }: Pick<OverviewProps, 'services' | 'items'>) {
  return <ul class="services">{services.map(({ id }) => items.get(id))}</ul>
}

function PastIncidents({ pastIncidents, hasMorePast, pastDays, context }: OverviewProps) {
  const days = groupByDay(pastIncidents, context.zone, ({ startedAt }) => startedAt)
  return (
    <section id="past">
      <h2>Past incidents</h2>
      {days.map((day) => (
        <section id={`day-${day.key}`} class="day">
          <h3>{day.name}</h3>
          {day.items.map((incident) => (
            <PastIncident incident={incident} context={context} />
          ))}
        </section>
      ))}
      <Part>
        <p class="about">
          {hasMorePast ? 'More' : days.length === 0 ? 'No incidents' : 'No others'} in the last {pastDays} days
          {hasMorePast ? ':' : '.'} <a href={`${context.base}/history`}>Incident history</a>
        </p>
      </Part>
    </section>
  )
}
