import type { Zone } from '../zone.ts'

/** A moment in the page's time zone, and exactly. The live script adds the reader's own time as its title. */
export function Time({ at, zone }: { readonly at: Date; readonly zone: Zone }) {
  return <time datetime={at.toISOString()}>{zone.time(at)}</time>
}

/** From one moment to another; a day that both share is said once. */
export function Span({ from, to, zone }: { readonly from: Date; readonly to: Date; readonly zone: Zone }) {
  const words = zone.dayKey(from) === zone.dayKey(to) ? zone.clock(to) : zone.time(to)
  return (
    <span>
      <Time at={from} zone={zone} /> to <time datetime={to.toISOString()}>{words}</time>
    </span>
  )
}
