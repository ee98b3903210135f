import type { Child } from 'hono/jsx'
import type { UptimeSource } from '../../generated/prisma/enums.ts'
import type { Catalogue } from '../../language/catalogue.ts'
import { PARTIAL_OUTAGE_PERCENT } from '../../monitoring/uptime/uptime.ts'
import type { RangeName } from '../../monitoring/uptime/uptime-range.ts'
import { unitOf } from '../../monitoring/uptime/uptime-range.ts'
import type { BarView, DayIncident, DayMark, DayView, ServiceHistoryView } from '../service-history.ts'
import { OwnersTitle } from './owners-text.tsx'
import type { PageContext } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { Time } from './time.tsx'

/** The height of the bar, and the width of one day including a gap of a quarter. */
export const HEIGHT = 40
export const STEP = 4

/**
 * The shape of each mark, so that none depends on colour alone: the heights at which lines run through its days. The
 * style sheet sets their width, and the gaps between days.
 */
const lines: Readonly<Record<DayMark, readonly number[]>> = {
  up: [25],
  // Taller than the others.
  down: [20],
  // As tall as `down`, split in two.
  partial: [9, 31],
  // Split in two.
  degraded: [16, 34],
  // Half as high.
  maintenance: [32.5],
  // A short line at the bottom.
  none: [38],
  // Thin, in the middle.
  importedUp: [25],
  // As thin as `importedUp`, with a short line at the bottom.
  importedDown: [16, 38],
}
const importedMarks: readonly DayMark[] = ['importedUp', 'importedDown']

const marks = Object.keys(lines) as DayMark[]

interface UptimeLineProps {
  readonly range: RangeName
  readonly bar: BarView
  readonly words: Catalogue
}

/** Renders the bar and the percentage of a service's line. */
export function UptimeLine({ range, bar, words }: UptimeLineProps) {
  return (
    <>
      <DayBars label={lineLabel(range, bar, words)} bar={bar} />
      <span class={bar.figure.endsWith('*') ? 'figure noted' : 'figure'}>{bar.figure}</span>
    </>
  )
}

/** Describes the bar of a line, which already has a name and a figure: how many days have each mark. */
function lineLabel(range: RangeName, { marks }: BarView, words: Catalogue): string {
  if (unitOf(range) !== 'day') return words.range.last[range]
  return `${words.uptime.lastDays(marks.length)}: ${countSummary(marks, words)}`
}

/**
 * Describes a bar: its days, its uptime, and how many days have each mark.
 * @param name the subject of the days.
 */
export function barLabel(name: string, { marks, uptime }: BarView, words: Catalogue): string {
  return words.uptime.bar(name, marks.length, uptime, countSummary(marks, words))
}

/** Renders a stroke per day, with one path per mark. */
export function DayBars({
  label,
  bar: { marks: days },
  role = 'img',
  children,
}: {
  readonly label: string
  readonly bar: Pick<BarView, 'marks'>
  /** `group` when the days are links. */
  readonly role?: 'img' | 'group'
  readonly children?: Child
}) {
  return (
    <svg
      class="days"
      viewBox={`0 0 ${days.length * STEP - 1} ${HEIGHT}`}
      preserveAspectRatio="none"
      role={role}
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

/** Counts the days of each mark, the worst first: `3 days with an outage, 85 days without problems`. */
function countSummary(days: readonly DayMark[], { uptime: { counts }, names }: Catalogue): string {
  const marks = ['down', 'partial', 'degraded', 'maintenance', 'up', 'importedDown', 'importedUp', 'none'] as const
  const counted = marks.flatMap((mark) => {
    const count = days.filter((day) => day === mark).length
    return count === 0 ? [] : [counts[mark](count)]
  })
  return names(counted, 0)
}

/** Returns a text with the number of a day’s unnamed incidents; empty if there are none. */
export const moreOf = ({ moreIncidents }: DayView, { incident }: Catalogue) =>
  moreIncidents === 0 ? [] : [incident.more(moreIncidents)]

/** The data of a day: the measured uptime, and the figures of another tool. */
export const whatOf = ({ notes, imported }: DayView) => (imported === null ? notes : [...notes, imported])

interface DayListProps {
  readonly history: ServiceHistoryView
  /** The address of the details of a bar's time. */
  readonly addressOf: (key: string) => string
  readonly context: PageContext
}

/** Lists the newest days with outages or incidents. */
export function DayList({ history, addressOf, context }: DayListProps) {
  const { eventful, hasOlder } = history
  const { words } = context
  if (eventful.length === 0) return null
  return (
    <>
      <ul class="eventful">
        {eventful.map((day) => (
          <li>
            <a class="date" href={addressOf(day.key)}>
              <DayMarkShape mark={day.mark} /> {day.name}
            </a>{' '}
            <span class="happened">
              {whatOf(day).length === 0 ? null : words.sentence(words.uptime.listed(whatOf(day)))}
              {day.incidents.map(({ id, effect, ...incident }) => (
                <>
                  {' '}
                  <span>
                    {effect && `${effectWords(effect, words)}: `}
                    <OwnersTitle of={incident} href={`${context.base}/incidents/${id}`} context={context} />
                  </span>
                </>
              ))}
              {moreOf(day, words).map((more) => ` ${more}`)}
            </span>
          </li>
        ))}
      </ul>
      {hasOlder && (
        <p>
          {words.service.newestDays} <a href={`${context.base}/history`}>{words.service.history}</a>
        </p>
      )}
    </>
  )
}

/** `Partial outage for 12 min`. */
function effectWords({ status, milliseconds }: NonNullable<DayIncident['effect']>, words: Catalogue): string {
  return words.uptime.lasting(words.status[status], milliseconds)
}

/** Renders the shape of a mark as in the bar. */
export function DayMarkShape({ mark }: { readonly mark: DayMark }) {
  const path = pathOf([mark], mark)
  return (
    <svg class="day-mark" viewBox={`0 0 3 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class={mark} d={path} />
    </svg>
  )
}

interface LegendProps extends Pick<PageContext, 'zone' | 'words'> {
  /** What the page counts. */
  readonly source: UptimeSource
  readonly readAt: Date
  readonly each?: string | undefined
  /** Whether any day is imported. */
  readonly hasImported: boolean
}

/**
 * Explains the marks of the bars.
 * @param readAt the end of the figures.
 * @param each the meaning of a stroke, unless it is a day up to today.
 */
export function Legend({ zone, words: { uptime, percent }, source, readAt, each, hasImported }: LegendProps) {
  const counted = source === 'MONITORS_AND_INCIDENTS' ? uptime.countedBoth : uptime.counted
  const shown = hasImported ? marks : marks.filter((mark) => !importedMarks.includes(mark))
  return (
    <Part>
      <div class="legend">
        <p>
          {each ?? uptime.eachBar(zone.name)}{' '}
          {shown.map((mark) => (
            <span>
              <DayMarkShape mark={mark} /> {uptime.legend[mark]}
            </span>
          ))}
        </p>
        <p>
          {counted(<Time at={readAt} zone={zone} />)} {uptime.partialShare(percent(PARTIAL_OUTAGE_PERCENT))}
        </p>
      </div>
    </Part>
  )
}
