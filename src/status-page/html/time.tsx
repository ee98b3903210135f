import type { Catalogue } from '../../language/catalogue.ts'
import { wordsOf } from '../../language/catalogue.ts'
import type { Zone } from '../time-format.ts'

/** Renders a time in the page's time zone. The live script adds the reader's local time as a tooltip. */
export function Time({ at, zone }: { readonly at: Date; readonly zone: Zone }) {
  return <time datetime={at.toISOString()}>{zone.time(at)}</time>
}

interface SpanProps {
  readonly from: Date
  readonly to: Date
  readonly zone: Zone
  /** Those of the console by default. */
  readonly words?: Catalogue
}

/** Renders a time span; names the day once when both ends share it. */
export function Span({ from, to, zone, words = wordsOf('EN') }: SpanProps) {
  const end = zone.dayKey(from) === zone.dayKey(to) ? zone.clock(to) : zone.time(to)
  return (
    <span>
      {words.maintenance.fromTo(<Time at={from} zone={zone} />, <time datetime={to.toISOString()}>{end}</time>)}
    </span>
  )
}
