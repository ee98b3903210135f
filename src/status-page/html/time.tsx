import type { Catalogue } from '../../language/catalogue.ts'
import { wordsOf } from '../../language/catalogue.ts'
import type { Zone } from '../time-format.ts'

/**
 * Renders a time in the page's time zone. The live script shows the reader's own on demand.
 * @param ago whether it stands alone, so that the script can show it as a relative time.
 */
export function Time({ at, zone, ago = false }: { readonly at: Date; readonly zone: Zone; readonly ago?: boolean }) {
  return (
    <time datetime={at.toISOString()} data-ago={ago ? '' : undefined}>
      {zone.time(at)}
    </time>
  )
}

/**
 * Renders a placeholder for a duration that is still growing, which the live script fills in, because the page is
 * cached.
 */
export function SoFar({ since }: { readonly since: Date }) {
  return <span data-since={since.toISOString()}></span>
}

interface SpanProps {
  readonly from: Date
  readonly to: Date
  readonly zone: Zone
  /** Those of the console by default. */
  readonly words?: Catalogue
}

/** Renders a time span, naming the day once if both ends share it. */
export function Span({ from, to, zone, words = wordsOf('EN') }: SpanProps) {
  const end = zone.dayKey(from) === zone.dayKey(to) ? zone.clock(to) : zone.time(to)
  return (
    <span>
      {words.maintenance.fromTo(<Time at={from} zone={zone} />, <time datetime={to.toISOString()}>{end}</time>)}
    </span>
  )
}
