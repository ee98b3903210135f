import type { Catalogue } from '../../language/catalogue.ts'
import type { BarUnit, RangeName } from '../../monitoring/uptime/uptime-range.ts'
import { DEFAULT_RANGE, unitOf } from '../../monitoring/uptime/uptime-range.ts'
import type { ServiceHistoryView } from '../service-history.ts'
import type { Zone } from '../time-format.ts'
import { barLabel, DayBars, HEIGHT, moreOf, STEP, whatOf } from './uptime.tsx'

/** Returns the names of the times in a range's bars. */
export function barNames(range: RangeName, zone: Zone, { range: words }: Catalogue): (from: Date) => string {
  const names = { hour: zone.time, day: zone.day, week: (from: Date) => words.weekFrom(zone.day(from)) } as const
  return names[unitOf(range)]
}

/** Returns the address of the details of a bar's time, on the page of a service: an hour links to its day. */
export function dayAddress(key: string, unit: BarUnit): string {
  return `?day=${key}${unit === 'week' ? '&days=7' : ''}`
}

/** Returns the address of a page in a range. */
export const rangeAddress = (base: string, range: RangeName) =>
  range === DEFAULT_RANGE ? base : `${base}?range=${range}`

interface RangesProps {
  /** The page of the service, or the overview. */
  readonly base: string
  readonly ranges: readonly RangeName[]
  readonly range: RangeName
  readonly words: Catalogue
}

/** Renders the links to the ranges of a page. They lead back to themselves, so that the page does not scroll away. */
export function Ranges({ base, ranges, range, words: { range: words } }: RangesProps) {
  return (
    <nav class="ranges" id="ranges" aria-label={words.ranges} data-range={range}>
      {ranges.map((name) => (
        <a href={`${rangeAddress(base, name)}#ranges`} aria-current={name === range ? 'true' : undefined}>
          {words.names[name]}
        </a>
      ))}
    </nav>
  )
}

interface RangeBarProps extends Pick<RangesProps, 'range' | 'words'> {
  readonly name: string
  readonly history: ServiceHistoryView
}

/**
 * Renders the bar of a range, in which each stroke links to its time. The newest is a tab stop; the script moves it
 * with the arrow keys.
 */
export function RangeBar({ range, name, history, words }: RangeBarProps) {
  const { days, uptime } = history
  const unit = unitOf(range)
  return (
    <>
      <div class="bars" data-range={range}>
        <DayBars
          label={unit === 'day' ? barLabel(name, history, words) : `${name}, ${words.range.last[range]}: ${uptime}`}
          bar={history}
          role="group"
        >
          {days.map((day, index) => {
            const what = [...whatOf(day), ...day.incidents.map(({ title }) => title), ...moreOf(day, words)]
            const label = `${day.name}: ${what.length === 0 ? words.uptime.legend[day.mark] : what.join(', ')}`
            return (
              <a href={dayAddress(day.key, unit)} tabindex={index === days.length - 1 ? 0 : -1} data-day>
                <title>{label}</title>
                <rect x={index * STEP} width={STEP} height={HEIGHT} />
              </a>
            )
          })}
        </DayBars>
      </div>
      <p class="span">
        <span>{words.range.begin[range]}</span>
        <span>{uptime}</span>
        <span>{words.range.end[unit]}</span>
      </p>
    </>
  )
}
