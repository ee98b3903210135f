import type { DayMark, ShownDay, ShownPast } from '../past.ts'
import type { Served } from './frame.tsx'
import { LatencyChart } from './latency-chart.tsx'
import { Time } from './time.tsx'

/** How high a bar is drawn, and how wide the place of a day is, of which the gap to the next takes a quarter. */
const HEIGHT = 40
const STEP = 4

/** Each mark has a shape of its own, as strokes from top to bottom, so that none depends on its colour. */
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

interface PastProps {
  readonly id: string
  readonly name: string
  readonly past: ShownPast
  readonly served: Served
}

/** What a service was like in the days that are shown: a bar, a figure, and what happened on each day. */
export function Past({ id, name, past, served }: PastProps) {
  const { days, uptime } = past
  return (
    <div class="history">
      <Bar name={name} past={past} />
      <p class="span">
        <span>{days.length} days ago</span>
        <span>{uptime}</span>
        <span>Today</span>
      </p>
      <details id={`past-${id}`}>
        <summary>
          Day by day{past.latencies.length > 0 ? ' and response times' : ''}
          <span class="hidden"> of {name}</span>
        </summary>
        <p>{past.basis}</p>
        <DayList days={days} served={served} />
        {past.latencies.length === 0 ? null : <LatencyChart points={past.latencies} zone={served.zone} />}
      </details>
    </div>
  )
}

/** One path for each mark that occurs, and a place to point at for each day that has something to tell. */
function Bar({ name, past }: Pick<PastProps, 'name' | 'past'>) {
  const { days } = past
  return (
    <svg
      class="days"
      viewBox={`0 0 ${days.length * STEP - 1} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${name}, last ${days.length} days: ${past.uptime}. ${counts(days)}`}
    >
      {marks.map((mark) => {
        const path = pathOf(days, mark)
        return path === '' ? null : <path class={mark} d={path} />
      })}
      {days.map((day, index) =>
        isEventful(day) ? (
          <rect x={index * STEP} width={STEP} height={HEIGHT}>
            <title>{`${day.name}: ${[...day.happenings, ...day.incidents.map(({ title }) => title)].join(', ')}`}</title>
          </rect>
        ) : null,
      )}
    </svg>
  )
}

function pathOf(days: readonly ShownDay[], mark: DayMark): string {
  return days
    .flatMap((day, index) =>
      day.mark === mark ? strokes[mark].map(([from, to]) => `M${index * STEP + 1.5} ${from}V${to}`) : [],
    )
    .join('')
}

/** Days of each kind in a sentence: `3 days with outages, 85 days without.` */
function counts(days: readonly ShownDay[]): string {
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

const isEventful = ({ happenings, incidents }: ShownDay) => happenings.length > 0 || incidents.length > 0

function DayList({ days, served }: { readonly days: readonly ShownDay[]; readonly served: Served }) {
  const eventful = days.filter(isEventful).toReversed()
  if (eventful.length === 0) return null
  return (
    <ul class="eventful">
      {eventful.map((day) => (
        <li>
          <span class="date">
            <DayMarkShape mark={day.mark} /> {day.name}
          </span>{' '}
          <span class="happened">
            {sentence(day.happenings)}
            {day.incidents.map(({ id, title }) => (
              <>
                {' '}
                <a href={`${served.base}/incidents/${id}`}>{title}</a>
              </>
            ))}
          </span>
        </li>
      ))}
    </ul>
  )
}

function sentence(happenings: readonly string[]): string {
  const words = happenings.join(', ')
  return words === '' ? '' : `${words[0]?.toUpperCase()}${words.slice(1)}.`
}

/** The shape of a day as the bar draws it. */
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

/** What the shapes of the bars mean. */
export function Legend({ zone, readAt }: Pick<Served, 'zone' | 'readAt'>) {
  return (
    <p class="legend">
      Each bar is a day in {zone.name}:{' '}
      {marks.map((mark) => (
        <span>
          <DayMarkShape mark={mark} /> {legend[mark]}
        </span>
      ))}{' '}
      Figures up to <Time at={readAt} zone={zone} />.
    </p>
  )
}
