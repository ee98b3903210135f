import type { Catalogue } from '../../language/catalogue.ts'
import { wordsOf } from '../../language/catalogue.ts'
import type { LatencyPoint } from '../../monitoring/uptime/latency.ts'
import type { RangeName } from '../../monitoring/uptime/uptime-range.ts'
import type { Zone } from '../time-format.ts'

const HEIGHT = 100
const STEP = 20

type Quantile = 'p50' | 'p95'

interface LatencyChartProps {
  /** At least one has a count. */
  readonly points: readonly LatencyPoint[]
  readonly range: RangeName
  readonly zone: Zone
  /** The texts; those of the console by default. */
  readonly words?: Catalogue
}

/** Renders response times of a range: a solid line for the median, a dashed line for the 95th percentile. */
export function LatencyChart({ points, range, zone, words: all = wordsOf('EN') }: LatencyChartProps) {
  const { range: words } = all
  const isByHour = range === '24h' || range === '7d'
  const top = scaleMaximum(Math.max(...points.map(({ p95 }) => p95 ?? 0)))
  const first = points[0]
  return (
    <figure class="latency">
      <figcaption>{summary(points, range, isByHour ? zone.time : zone.day, all)}</figcaption>
      <p class="scale">{milliseconds(top, all)}</p>
      <svg
        class="lines"
        viewBox={`0 0 ${points.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <path
          class="grid"
          d={`M0 .5H${points.length * STEP}M0 50H${points.length * STEP}M0 99.5H${points.length * STEP}`}
        />
        <path class="p95" d={stepPath(points, 'p95', top)} />
        <path class="p50" d={stepPath(points, 'p50', top)} />
      </svg>
      <p class="span">
        <span>{first ? (range === '24h' ? zone.clock(first.at) : zone.day(first.at)) : ''}</span>
        <span>{words.end[isByHour ? 'hour' : 'day']}</span>
      </p>
    </figure>
  )
}

/** Returns the caption, which also explains the lines. */
function summary(
  points: readonly LatencyPoint[],
  range: RangeName,
  when: (at: Date) => string,
  all: Catalogue,
): string {
  const { range: words } = all
  const medians = points.flatMap(({ p50 }) => (p50 === null ? [] : [p50]))
  const slowest = points.reduce((worst, point) => ((point.p95 ?? 0) > (worst.p95 ?? 0) ? point : worst))
  const [least, most] = [milliseconds(Math.min(...medians), all), milliseconds(Math.max(...medians), all)]
  const times = least === most ? words.about(least) : words.fromTo(least, most)
  const p95 = words.slowest(milliseconds(slowest.p95 ?? 0, all), when(slowest.at))
  return [words.responseTimes[range], words.median(times), p95, words.precision].join(' ')
}

/** Returns a path with one step per hour, interrupted where there are no data. */
function stepPath(points: readonly LatencyPoint[], which: Quantile, top: number): string {
  let path = ''
  for (const [index, point] of points.entries()) {
    const value = point[which]
    if (value === null) continue
    const y = Math.round((1 - value / top) * HEIGHT * 10) / 10
    const follows = (points[index - 1]?.[which] ?? null) !== null
    path += `${follows ? `V${y}` : `M${index * STEP} ${y}`}H${(index + 1) * STEP}`
  }
  return path
}

/** Rounds up to the next of 1, 2, 3, 4, 6, 8, 10, 20 … */
function scaleMaximum(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  return [1, 2, 3, 4, 6, 8, 10].map((step) => step * power).find((step) => step >= value) ?? 10 * power
}

/** Formats a latency with two significant digits, the precision of hourly figures: `85 ms`, `1.2 s`. */
function milliseconds(value: number, { number }: Catalogue): string {
  const rounded = Number(value.toPrecision(2))
  return rounded < 1000 ? `${number(rounded)} ms` : `${number(rounded / 1000)} s`
}
