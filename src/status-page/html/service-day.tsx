import type { Catalogue } from '../../language/catalogue.ts'
import { coveragePercent, uptimePercent } from '../../monitoring/uptime/uptime.ts'
import type { DayStretch, ServiceDay } from '../service-day.ts'
import { historySummary, importedNote } from '../service-history.ts'
import type { Zone } from '../time-format.ts'
import { maintenancePath } from '../timeline-queries.ts'
import type { ServiceView } from '../view.ts'
import { OwnersTitle } from './owners-text.tsx'
import type { PageContext } from './page-layout.tsx'
import { LiveState, PageLayout } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { Time } from './time.tsx'
import { DayMarkShape } from './uptime.tsx'

type DayWords = Catalogue['day']

interface DayPageProps {
  readonly service: Pick<ServiceView, 'id' | 'name'>
  readonly happened: ServiceDay
  /** When the figures of today end. */
  readonly readAt: Date
  readonly context: PageContext
}

/** Renders the page of a service's day or week. */
export function DayPage({ service, happened, readAt, context }: DayPageProps) {
  const { owner, zone, base } = context
  const { day: words } = context.words
  const title = titleOf(happened, zone, words)
  const path = `/services/${service.id}`
  return (
    <PageLayout
      context={context}
      title={context.words.page.title(`${service.name}, ${title}`, owner.name)}
      description={words.description(service.name, title)}
      path={`${path}?day=${zone.dayKey(happened.from)}${happened.days === 7 ? '&days=7' : ''}`}
    >
      <p class="eyebrow">
        <a href={base + path} {...context.ownersText}>
          {service.name}
        </a>
      </p>
      <LiveState words={context.words} />
      <Part>
        <section id="day">
          <p class="of-service" id="day-service" {...context.ownersText}>
            {service.name}
          </p>
          <h1 id="day-title">{title}</h1>
          <Figures happened={happened} words={context.words} />
          <Imported happened={happened} words={context.words} />
          <Happened happened={happened} context={context} />
          <p class="about">
            {words.zone(zone.name)}{' '}
            {happened.to.getTime() === readAt.getTime() && words.upTo(<Time at={readAt} zone={zone} />)}
          </p>
          <Neighbours happened={happened} path={base + path} words={words} />
        </section>
      </Part>
    </PageLayout>
  )
}

function titleOf({ from, to, days }: ServiceDay, zone: Zone, words: DayWords): string {
  if (days === 1) return zone.day(from)
  return words.fromTo(zone.day(from), zone.day(new Date(to.getTime() - 1)))
}

interface FiguresProps extends Pick<DayPageProps, 'happened'> {
  readonly words: Catalogue
}

function Figures({ happened: { source, tally }, words: all }: FiguresProps) {
  const { day: words, percent } = all
  const [uptime, known] = [uptimePercent(tally), coveragePercent(tally)]
  return (
    <>
      <dl class="figures">
        <div>
          <dt>{words.uptime[source]}</dt>
          <dd>{uptime === null ? words.noData : percent(uptime)}</dd>
        </div>
        <div>
          <dt>{words.known}</dt>
          <dd>{known === null ? words.maintenanceOnly : percent(known)}</dd>
        </div>
      </dl>
      <p>{historySummary(source, tally, all)}</p>
    </>
  )
}

function Imported({ happened: { imported }, words }: FiguresProps) {
  const note = importedNote(imported, words)
  if (imported === null || note === null) return null
  return (
    <p>
      {words.sentence(words.uptime.listed([note]))} {words.uptime.importedNotCounted(imported.source)}
    </p>
  )
}

const markOf = {
  down: 'down',
  partial: 'partial',
  degraded: 'degraded',
  maintenance: 'maintenance',
  unknown: 'none',
} as const

function Happened({ happened, context }: Pick<DayPageProps, 'happened' | 'context'>) {
  const { zone, base } = context
  const { day: words } = context.words
  const { source, stretches, incidents, maintenances, more, days } = happened
  // Within one day, the time of day is enough.
  const time = days === 1 ? zone.clock : zone.time
  return (
    <>
      {stretches.length === 0 ? null : (
        <>
          <h2>{words.measured[source]}</h2>
          <ul class="happenings">
            {stretches.map((stretch) => (
              <li>
                <DayMarkShape mark={markOf[stretch.condition]} />
                <span>
                  <b>{words.conditions[stretch.condition]}</b> {timesOf(stretch, time, words)}
                </span>
                <span class="lasted">{lengthOf(stretch, context.words)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {incidents.length === 0 ? null : (
        <>
          <h2>{words.incidents}</h2>
          <ul class="happenings">
            {incidents.map(({ id, begunAt, endedAt, status, ...incident }) => (
              <li>
                <span>
                  {status === null ? null : <b>{context.words.status[status]}: </b>}
                  <OwnersTitle of={incident} href={`${base}/incidents/${id}`} context={context} />
                </span>
                <Between from={begunAt} to={endedAt} zone={zone} words={words} />
              </li>
            ))}
          </ul>
        </>
      )}
      {maintenances.length === 0 ? null : (
        <>
          <h2>{words.maintenance}</h2>
          <ul class="happenings">
            {maintenances.map(({ id, startedAt, endedAt, ...maintenance }) => (
              <li>
                <OwnersTitle of={maintenance} href={base + maintenancePath(id)} context={context} />
                <Between from={startedAt} to={endedAt} zone={zone} words={words} />
              </li>
            ))}
          </ul>
        </>
      )}
      {more === 0 ? null : <p>{words.more(more)}</p>}
      {stretches.length + incidents.length + maintenances.length === 0 && happened.imported === null ? (
        <p>{words.nothing}</p>
      ) : null}
    </>
  )
}

interface BetweenProps {
  readonly from: Date
  /** Null: it continues. */
  readonly to: Date | null
  readonly zone: Zone
  readonly words: DayWords
}

function Between({ from, to, zone, words }: BetweenProps) {
  const begin = <Time at={from} zone={zone} />
  return (
    <span class="when">{to === null ? words.since(begin) : words.between(begin, <Time at={to} zone={zone} />)}</span>
  )
}

function timesOf({ from, to, isCutAtStart, isOngoing }: DayStretch, time: (at: Date) => string, words: DayWords) {
  const begin = <time datetime={from.toISOString()}>{time(from)}</time>
  const end = <time datetime={to.toISOString()}>{time(to)}</time>
  if (isCutAtStart) return isOngoing ? words.allTime : words.until(end)
  return isOngoing ? words.since(begin) : words.between(begin, end)
}

function lengthOf({ from, to, isOngoing }: DayStretch, { day, duration }: Catalogue): string {
  const length = duration(to.getTime() - from.getTime())
  return isOngoing ? day.soFar(length) : length
}

function Neighbours({
  happened,
  path,
  words,
}: Pick<DayPageProps, 'happened'> & { readonly path: string; readonly words: DayWords }) {
  const { earlier, later, days } = happened
  const address = (day: Date) => `${path}?day=${day.toISOString().slice(0, 10)}${days === 7 ? '&days=7' : ''}`
  const names = days === 7 ? words.weeks : words.days
  return (
    <nav class="paging" aria-label={names.label}>
      {earlier === null ? null : (
        <a href={address(earlier)} rel="prev" data-day>
          ‹ {names.earlier}
        </a>
      )}
      {later === null ? null : (
        <a href={address(later)} rel="next" data-day>
          {names.later} ›
        </a>
      )}
    </nav>
  )
}
