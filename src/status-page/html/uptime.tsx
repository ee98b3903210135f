import type { Child } from 'hono/jsx'
import type { BarView, DayIncident, DayMark, DayView, ServiceHistoryView } from '../service-history.ts'
import { formatDuration } from '../time-format.ts'
import { serviceStatusLabels } from '../view.ts'
import { LatencyChart } from './latency-chart.tsx'
import type { PageContext } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { Time } from './time.tsx'

/** The height of the bar, and the width of one day including a gap of a quarter. */
const HEIGHT = 40
const STEP = 4

/**
 * The shape of each mark, so that no mark depends on colour alone: the heights at which lines run through its days. The style
 * sheet sets their width, and the gaps between days.
 */
const lines: Readonly<Record<DayMark, readonly number[]>> = {
  up: [25],
  // Taller than the others.
  down: [20],
  // As tall, cut in two.
  partial: [9, 31],
  // Cut in two.
  degraded: [16, 34],
  // Half as high.
  maintenance: [32.5],
  // A foot.
  none: [38],
}

const marks = Object.keys(lines) as DayMark[]

/** A service with its history. */
export interface ServiceWithHistory {
  readonly id: string
  readonly name: string
  readonly bar: BarView
  readonly history: ServiceHistoryView | null
}

interface UptimeHistoryProps {
  readonly service: ServiceWithHistory
  readonly context: PageContext
}

/** Renders the bar and the figure of a line. */
export function UptimeLine({ bar }: { readonly bar: BarView }) {
  return (
    <>
      <DayBars label={`Last ${bar.marks.length} days`} bar={bar} />
      <span class="figure">{bar.figure}</span>
    </>
  )
}

/** Renders the bar of a service and what happened on its days. */
export function WholeHistory({ service, context }: UptimeHistoryProps) {
  const { history } = service
  return (
    <div class="history">
      <UptimeBar {...service} />
      {history && <HistoryDetails history={history} path={null} context={context} />}
    </div>
  )
}

interface HistoryDetailsProps {
  readonly history: ServiceHistoryView
  /** The path of the page with all days; null: this is it. */
  readonly path: string | null
  readonly context: PageContext
}

function HistoryDetails({ history, path, context }: HistoryDetailsProps) {
  return (
    <>
      <p>{history.summary}</p>
      <DayList history={history} path={path} context={context} />
      {history.latencies.length === 0 ? null : <LatencyChart points={history.latencies} zone={context.zone} />}
    </>
  )
}

/** Renders a stroke per day, a tooltip for each day that is listed below, and the uptime. */
function UptimeBar({ name, bar, history }: ServiceWithHistory) {
  const { marks: days, uptime } = bar
  return (
    <>
      <DayBars label={barLabel(name, bar)} bar={bar}>
        {history && <DayTitles history={history} />}
      </DayBars>
      <p class="span">
        <span>{days.length} days ago</span>
        <span>{uptime}</span>
        <span>Today</span>
      </p>
    </>
  )
}

function DayTitles({ history }: { readonly history: ServiceHistoryView }) {
  const listed = new Set(history.eventful.map(({ key }) => key))
  return (
    <>
      {history.days.map((day, index) =>
        listed.has(day.key) ? (
          <rect x={index * STEP} width={STEP} height={HEIGHT}>
            <title>{`${day.name}: ${[...day.notes, ...day.incidents.map(({ title }) => title), ...moreOf(day)].join(', ')}`}</title>
          </rect>
        ) : null,
      )}
    </>
  )
}

/** Describes a bar: its days, its uptime, and how many days have each mark. @param name of what the days are of. */
export function barLabel(name: string, { marks, uptime }: BarView): string {
  return `${name}, last ${marks.length} days: ${uptime}. ${countSummary(marks)}`
}

/** Renders a stroke per day, with one path per mark. */
export function DayBars({
  label,
  bar: { marks: days },
  children,
}: {
  readonly label: string
  readonly bar: BarView
  readonly children?: Child
}) {
  return (
    <svg
      class="days"
      viewBox={`0 0 ${days.length * STEP - 1} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {marks.map((mark) => {
        const path = pathOf(days, mark)
        return path === '' ? null : <path class={mark} d={path} />
      })}
      {children}
    </svg>
  )
}

/** Returns a path through the days with a mark: one line for each run of days, at each of its heights. */
function pathOf(days: readonly DayMark[], mark: DayMark): string {
  let path = ''
  for (let from = 0; from < days.length; from++) {
    if (days[from] !== mark) continue
    let to = from
    while (days[to + 1] === mark) to += 1
    for (const height of lines[mark]) path += `M${from * STEP} ${height}h${(to - from + 1) * STEP - 1}`
    from = to
  }
  return path
}

/** Counts the days of each mark: `3 days with an outage, 85 days without.` */
function countSummary(days: readonly DayMark[]): string {
  const count = (mark: DayMark) => days.filter((day) => day === mark).length
  const words = [
    [count('down'), 'with an outage'],
    [count('partial'), 'with a partial outage'],
    [count('degraded'), 'degraded'],
    [count('maintenance'), 'with maintenance only'],
    [count('up'), 'without any'],
    [count('none'), 'without data'],
  ] as const
  return `${words.flatMap(([many, what]) => (many === 0 ? [] : [`${many} ${many === 1 ? 'day' : 'days'} ${what}`])).join(', ')}.`
}

/** Counts the incidents of a day that are not named. */
const moreOf = ({ moreIncidents }: DayView) => (moreIncidents === 0 ? [] : [`${moreIncidents} more`])

function DayList({ history, path, context }: HistoryDetailsProps) {
  const { eventful, hasOlder } = history
  if (eventful.length === 0) return null
  return (
    <>
      <ul class="eventful">
        {eventful.map((day) => (
          <li>
            <span class="date">
              <DayMarkShape mark={day.mark} /> {day.name}
            </span>{' '}
            <span class="happened">
              {sentence(day.notes)}
              {day.incidents.map(({ id, title, effect }) => (
                <>
                  {' '}
                  <span>
                    {effect && `${effectWords(effect)}: `}
                    <a href={`${context.base}/incidents/${id}`}>{title}</a>
                  </span>
                </>
              ))}
              {moreOf(day).map((more) => ` and ${more}`)}
            </span>
          </li>
        ))}
      </ul>
      {hasOlder && (
        <p>
          Only the newest days are listed.{' '}
          {path === null ? <a href={`${context.base}/history`}>Incident history</a> : <a href={path}>All days</a>}
        </p>
      )}
    </>
  )
}

/** `Partial outage for 12 min`. */
function effectWords({ status, milliseconds }: NonNullable<DayIncident['effect']>): string {
  return `${serviceStatusLabels[status]} for ${formatDuration(milliseconds)}`
}

function sentence(items: readonly string[]): string {
  const words = items.join(', ')
  return words === '' ? '' : `${capitalized(words)}.`
}

const capitalized = (words: string) => `${words[0]?.toUpperCase() ?? ''}${words.slice(1)}`

/** Renders the shape of a mark as in the bar. */
function DayMarkShape({ mark }: { readonly mark: DayMark }) {
  const path = pathOf([mark], mark)
  return (
    <svg class="day-mark" viewBox={`0 0 3 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class={mark} d={path} />
    </svg>
  )
}

const legend = {
  up: 'no outage',
  degraded: 'degraded',
  partial: 'partial outage',
  down: 'outage',
  maintenance: 'maintenance only',
  none: 'no data',
} as const satisfies Record<DayMark, string>

/** Explains the marks of the bars. @param readAt when the figures end. */
export function Legend({ zone, readAt }: Pick<PageContext, 'zone'> & { readonly readAt: Date }) {
  return (
    <Part>
      <div class="legend">
        <p>
          Each stroke is a day in {zone.name}, the last one today:{' '}
          {marks.map((mark) => (
            <span>
              <DayMarkShape mark={mark} /> {legend[mark]}
            </span>
          ))}
        </p>
        <p>
          Uptime is what monitors measured; * by incidents: the time without an incident of outage. Figures up to{' '}
          <Time at={readAt} zone={zone} />.
        </p>
      </div>
    </Part>
  )
}
