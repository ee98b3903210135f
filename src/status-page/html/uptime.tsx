import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { yieldAfterTimeSlice } from '../../core/time-slice.ts'
import type { DayMark, DayView, ServiceHistoryView } from '../service-history.ts'
import { LatencyChart } from './latency-chart.tsx'
import type { PageContext } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { Time } from './time.tsx'

/** The height of the bar, and the width of one day including a gap of a quarter. */
const HEIGHT = 40
const STEP = 4

/** The shape of each mark as vertical strokes, so that no mark depends on colour alone. */
const strokes: Readonly<Record<DayMark, readonly (readonly [from: number, to: number])[]>> = {
  up: [[10, 40]],
  // Taller than the others.
  down: [[0, 40]],
  // Cut in two.
  degraded: [
    [10, 21],
    [27, 40],
  ],
  // Half as high.
  maintenance: [[25, 40]],
  // A foot.
  none: [[36, 40]],
}

const marks = Object.keys(strokes) as DayMark[]

interface UptimeHistoryProps {
  readonly id: string
  readonly name: string
  readonly history: ServiceHistoryView
  readonly context: PageContext
}

/**
 * Renders the histories of services, by service id. Yields the event loop between services: those of a large organization
 * take longer than a time slice.
 */
export async function renderHistories(
  services: readonly { readonly id: string; readonly name: string }[],
  histories: ReadonlyMap<string, ServiceHistoryView>,
  context: PageContext,
): Promise<ReadonlyMap<string, Child>> {
  const owner = {}
  const rendered = new Map<string, Child>()
  for (const { id, name } of services) {
    const history = histories.get(id)
    if (history === undefined) continue
    await yieldAfterTimeSlice(owner)
    rendered.set(id, raw(`${<UptimeHistory id={id} name={name} history={history} context={context} />}`))
  }
  return rendered
}

/** Renders a service's history: a bar with one stroke per day, the uptime, and the newest days with notes or incidents. */
function UptimeHistory({ id, name, history, context }: UptimeHistoryProps) {
  const { days, uptime } = history
  return (
    <div class="history">
      <UptimeBar name={name} history={history} />
      <p class="span">
        <span>{days.length} days ago</span>
        <span>{uptime}</span>
        <span>Today</span>
      </p>
      <details id={`history-${id}`}>
        <summary>
          Day by day{history.latencies.length > 0 ? ' and response times' : ''}
          <span class="hidden"> of {name}</span>
        </summary>
        <p>{history.summary}</p>
        <DayList history={history} context={context} />
        {history.latencies.length === 0 ? null : <LatencyChart points={history.latencies} zone={context.zone} />}
      </details>
    </div>
  )
}

/** Renders one path per mark, and a tooltip for each day that is listed below. */
function UptimeBar({ name, history }: Pick<UptimeHistoryProps, 'name' | 'history'>) {
  const { days } = history
  const listed = new Set(history.eventful)
  return (
    <svg
      class="days"
      viewBox={`0 0 ${days.length * STEP - 1} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${name}, last ${days.length} days: ${history.uptime}. ${countSummary(days)}`}
    >
      {marks.map((mark) => {
        const path = pathOf(days, mark)
        return path === '' ? null : <path class={mark} d={path} />
      })}
      {days.map((day, index) =>
        listed.has(day) ? (
          <rect x={index * STEP} width={STEP} height={HEIGHT}>
            <title>{`${day.name}: ${[...day.notes, ...day.incidents.map(({ title }) => title), ...moreOf(day)].join(', ')}`}</title>
          </rect>
        ) : null,
      )}
    </svg>
  )
}

function pathOf(days: readonly DayView[], mark: DayMark): string {
  return days
    .flatMap((day, index) =>
      day.mark === mark ? strokes[mark].map(([from, to]) => `M${index * STEP + 1.5} ${from}V${to}`) : [],
    )
    .join('')
}

/** Counts the days of each mark: `3 days with an outage, 85 days without.` */
function countSummary(days: readonly DayView[]): string {
  const count = (mark: DayMark) => days.filter((day) => day.mark === mark).length
  const words = [
    [count('down'), 'with an outage'],
    [count('degraded'), 'degraded'],
    [count('maintenance'), 'with maintenance only'],
    [count('up'), 'without any'],
    [count('none'), 'without data'],
  ] as const
  return `${words.flatMap(([many, what]) => (many === 0 ? [] : [`${many} ${many === 1 ? 'day' : 'days'} ${what}`])).join(', ')}.`
}

/** Counts the incidents of a day that are not named. */
const moreOf = ({ moreIncidents }: DayView) => (moreIncidents === 0 ? [] : [`${moreIncidents} more`])

function DayList({ history, context }: Pick<UptimeHistoryProps, 'history' | 'context'>) {
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
              {day.incidents.map(({ id, title }) => (
                <>
                  {' '}
                  <a href={`${context.base}/incidents/${id}`}>{title}</a>
                </>
              ))}
              {moreOf(day).map((more) => ` and ${more}`)}
            </span>
          </li>
        ))}
      </ul>
      {hasOlder && (
        <p>
          Only the newest days are listed. <a href={`${context.base}/history`}>Incident history</a>
        </p>
      )}
    </>
  )
}

function sentence(items: readonly string[]): string {
  const words = items.join(', ')
  return words === '' ? '' : `${words[0]?.toUpperCase()}${words.slice(1)}.`
}

/** Renders the shape of a mark as in the bar. */
function DayMarkShape({ mark }: { readonly mark: DayMark }) {
  const path = strokes[mark].map(([from, to]) => `M1.5 ${from}V${to}`).join('')
  return (
    <svg class="day-mark" viewBox={`0 0 3 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class={mark} d={path} />
    </svg>
  )
}

const legend = {
  up: 'no outage',
  degraded: 'degraded',
  down: 'outage',
  maintenance: 'maintenance only',
  none: 'no data',
} as const satisfies Record<DayMark, string>

/** Explains the marks of the bars. */
export function Legend({ zone, readAt }: Pick<PageContext, 'zone' | 'readAt'>) {
  return (
    <p class="legend">
      Each bar is a day in {zone.name}:{' '}
      {marks.map((mark) => (
        <Part>
          <span>
            <DayMarkShape mark={mark} /> {legend[mark]}
          </span>
        </Part>
      ))}{' '}
      Figures up to <Time at={readAt} zone={zone} />.
    </p>
  )
}
