import type { Child } from 'hono/jsx'
import type { Catalogue } from '../../language/catalogue.ts'
import { isolate, withoutIsolates } from '../../language/isolate.ts'
import type { DayUptime } from '../../monitoring/uptime/uptime-days.ts'
import type { RangeName } from '../../monitoring/uptime/uptime-range.ts'
import { unitOf } from '../../monitoring/uptime/uptime-range.ts'
import type { PageStatus } from '../../status/service/shown-status.ts'
import type { BarView } from '../service-history.ts'
import type { GroupView, IncidentView, MaintenanceView, SectionView, ServiceView } from '../view.ts'
import { groupByDay, groupLabel, groupServices, headline, nextOfEach, pageLabel } from '../view.ts'
import { DayDialog } from './day-dialog.tsx'
import { OpenIncident, PastIncident } from './incident.tsx'
import { Maintenance } from './maintenance.tsx'
import { Sentence } from './owners-text.tsx'
import type { PageContext } from './page-layout.tsx'
import { LiveState, PageLayout } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { barNames, dayAddress, Ranges } from './range-bar.tsx'
import { ServiceMark, Shape } from './status-mark.tsx'
import { Legend, UptimeLine } from './uptime.tsx'

/** The content of the overview. */
export interface OverviewProps {
  readonly context: PageContext
  readonly status: PageStatus
  readonly groups: readonly GroupView[]
  readonly services: readonly ServiceView[]
  /** The range of their bars, and those that the page offers. */
  readonly range: RangeName
  readonly ranges: readonly RangeName[]
  /** The time that each stroke of a bar stands for. */
  readonly spans: readonly Omit<DayUptime, 'tally'>[]
  /** The rendered services, by service id. */
  readonly items: ReadonlyMap<string, Child>
  /** The bars of groups, by group id. */
  readonly groupBars: ReadonlyMap<string, BarView>
  /** Whether any of them has a bar of days, and when its figures end. */
  readonly hasBars: boolean
  /** Whether any of their days is imported. */
  readonly hasImported: boolean
  readonly readAt: Date
  readonly openIncidents: readonly IncidentView[]
  /** Running and upcoming maintenances, earliest first. */
  readonly maintenances: readonly MaintenanceView[]
  /** Resolved incidents, newest first. */
  readonly pastIncidents: readonly IncidentView[]
  /** As `daysWithoutIncident` returns them. */
  readonly daysWithoutIncident: number | null
  /** Whether there are more of these than the page shows. */
  readonly hasMorePast: boolean
  /** The age limit of `pastIncidents`, in days. */
  readonly pastDays: number
}

/** The number of services above which operational groups are collapsed. */
const COLLAPSE_ABOVE = 20

/** Renders the page at `/status/{slug}`: headline, open incidents, maintenance, services and past incidents. */
export function Overview(props: OverviewProps) {
  const { context, status, services, openIncidents } = props
  const { owner, words } = context
  const heading = headline({ status, services, incidents: openIncidents }, context.zone, words, isolate)
  const sentence = withoutIsolates(heading)
  const { shown } = status
  const running = props.maintenances.filter((maintenance) => maintenance.status !== 'SCHEDULED')
  const upcoming = nextOfEach(props.maintenances.filter((maintenance) => maintenance.status === 'SCHEDULED'))
  return (
    <PageLayout
      context={context}
      title={words.page.title(pageLabel({ status, incidents: openIncidents }, words), owner.name)}
      description={words.page.description(sentence, owner.name)}
      path=""
    >
      <section id="state" class="state" data-status={shown} data-announce={`${sentence}.`}>
        <span class="mark">
          <Shape of={shown} />
        </span>
        <h1>
          <Sentence text={heading} context={context} />
        </h1>
        {props.daysWithoutIncident === null ? null : (
          <p class="calm">{words.overview.daysWithoutIncident(props.daysWithoutIncident)}</p>
        )}
        <LiveState words={words} />
      </section>
      {openIncidents.length === 0 ? null : (
        <section id="open-incidents">
          <h2>{words.overview.openIncidents}</h2>
          {openIncidents.map((incident) => (
            <OpenIncident incident={incident} context={context} />
          ))}
        </section>
      )}
      <Maintenances
        id="running"
        heading={words.overview.maintenanceInProgress}
        maintenances={running}
        context={context}
      />
      <Services {...props} />
      <Maintenances
        id="upcoming"
        heading={words.overview.scheduledMaintenance}
        maintenances={upcoming}
        context={context}
      />
      <PastIncidents {...props} />
      <DayDialog words={words} />
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
  const { groups, services, items, context, range } = props
  const { overview: words } = context.words
  const unit = unitOf(range)
  return (
    <section id="services" data-today={context.zone.dayKey(props.readAt)} {...strokesOf(props)}>
      <Part>
        <div class="heading">
          <h2>{words.services}</h2>
          {props.hasBars && (
            <Ranges base={context.base || '/'} ranges={props.ranges} range={range} words={context.words} />
          )}
        </div>
      </Part>
      {services.length >= FILTER_FROM && <Filter words={words} />}
      {services.length === 0 ? (
        <p>{words.noServices}</p>
      ) : (
        groupServices(groups, services).map((section) => (
          <Section
            items={items}
            groupBars={props.groupBars}
            {...{ section, range, context }}
            collapsed={services.length > COLLAPSE_ABOVE && section.shown === 'OPERATIONAL'}
          />
        ))
      )}
      {props.hasBars && (
        <Legend
          zone={context.zone}
          words={context.words}
          source={context.owner.uptimeSource}
          readAt={props.readAt}
          hasImported={props.hasImported}
          each={unit === 'day' ? undefined : context.words.range.bar[unit](context.zone.name)}
        />
      )}
    </section>
  )
}

/** Returns the attributes that describe the strokes to the script. Strokes that are days need none. */
function strokesOf({ range, spans, context }: OverviewProps): Readonly<Record<string, string>> {
  const unit = unitOf(range)
  if (unit === 'day') return {}
  const { zone, words } = context
  const nameOf = barNames(range, zone, words)
  const strokes = spans.map(({ from }) => `${dayAddress(zone.dayKey(from), unit)} ${nameOf(from)}`)
  return { 'data-strokes': strokes.join('\n') }
}

/** The minimum number of services for which the page has a filter. */
const FILTER_FROM = 15

/** Renders the filter. Only its text field needs a script. */
function Filter({ words }: { readonly words: Catalogue['overview'] }) {
  return (
    <Part>
      <search class="filter" id="filter" aria-label={words.services} data-keep>
        <input type="search" id="filter-text" aria-label={words.filterByName} placeholder={words.filterByName} hidden />
        <label>
          <input type="checkbox" id="only-problems" /> {words.onlyProblems}
        </label>
      </search>
    </Part>
  )
}

interface SectionProps extends Pick<OverviewProps, 'items' | 'groupBars' | 'range' | 'context'> {
  readonly section: SectionView
  readonly collapsed: boolean
}

function Section({ section, collapsed, items, groupBars, range, context }: SectionProps) {
  const { group, shown, services } = section
  if (group === null) return <ServiceList items={items} services={services} />
  const bar = groupBars.get(group.id)
  return (
    <details id={group.id} class="group" data-status={shown} open={!collapsed}>
      <Part>
        <summary class="line" data-status={shown}>
          <h3 {...context.ownersText}>{group.name}</h3>
          {bar && <UptimeLine range={range} bar={bar} words={context.words} />}
          <ServiceMark status={shown} label={groupLabel(services, context.words)} />
        </summary>
      </Part>
      {group.description === '' ? null : (
        <p class="about" {...context.ownersText}>
          {group.description}
        </p>
      )}
      <ServiceList items={items} services={services} />
    </details>
  )
}

function ServiceList({ services, items }: Pick<OverviewProps, 'services' | 'items'>) {
  return <ul class="services">{services.map(({ id }) => items.get(id))}</ul>
}

function PastIncidents({ pastIncidents, openIncidents, hasMorePast, pastDays, context }: OverviewProps) {
  const { words } = context
  const hasShown = pastIncidents.length + openIncidents.length > 0
  const days = groupByDay(pastIncidents, context.zone, ({ startedAt }) => startedAt)
  return (
    <section id="past">
      <h2>{words.overview.pastIncidents}</h2>
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
          {hasMorePast
            ? words.overview.moreIncidents(pastDays)
            : hasShown
              ? words.overview.noOtherIncidents(pastDays)
              : words.overview.noIncidents(pastDays)}{' '}
          <a href={`${context.base}/history`}>{words.history.title}</a>
        </p>
      </Part>
    </section>
  )
}
