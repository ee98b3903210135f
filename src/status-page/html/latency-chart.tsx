import type { LatencyPoint } from '../../monitoring/latency.ts'
import type { Zone } from '../time-format.ts'

const HEIGHT = 100
const STEP = 20

type Quantile = 'p50' | 'p95'

/** Renders hourly response times of the last 24 hours: a solid line for the median, a dashed line for the 95th percentile. */
export function LatencyChart({ points, zone }: { readonly points: readonly LatencyPoint[]; readonly zone: Zone }) {
  const top = scaleMaximum(Math.max(...points.map(({ p95 }) => p95 ?? 0)))
  const first = points[0]
  return (
    <figure class="latency">
      <figcaption>{summary(points, zone)}</figcaption>
      <p class="scale">{milliseconds(top)}</p>
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
        <span>{first ? zone.clock(first.at) : ''}</span>
        <span>Now</span>
      </p>
    </figure>
  )
}

/** Returns the caption, which also explains the lines. */
function summary(points: readonly LatencyPoint[], zone: Zone): string {
  const medians = points.flatMap(({ p50 }) => (p50 === null ? [] : [p50]))
  const slowest = points.reduce((worst, point) => ((point.p95 ?? 0) > (worst.p95 ?? 0) ? point : worst))
  const [least, most] = [milliseconds(Math.min(...medians)), milliseconds(Math.max(...medians))]
  const range = least === most ? `about ${least}` : `between ${least} and ${most}`
  return `Response times in the last 24 hours. Hourly median (solid line): ${range}. 95th percentile (dashed line): up to ${milliseconds(slowest.p95 ?? 0)}, in the hour from ${zone.clock(slowest.at)}.`
}

/** Returns a path with one step per hour, interrupted where there is no data. */
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
function milliseconds(value: number): string {
  const rounded = Number(value.toPrecision(2))
  return rounded < 1000 ? `${rounded} ms` : `${rounded / 1000} s`
}
