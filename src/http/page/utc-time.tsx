import { lazily } from '../../core/lazily.ts'

const format = lazily(
  () => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' }),
)

/** Renders a time in UTC, to the second. Live scripts add the reader's local time as a tooltip. */
export function UtcTime({ at }: { readonly at: Date }) {
  return <time datetime={at.toISOString()}>{format().format(at)} UTC</time>
}
