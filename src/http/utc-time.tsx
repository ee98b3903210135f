const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' })

/** An instant in UTC, to the second, for people and machines. Live scripts add the reader's own time as its title. */
export function UtcTime({ at }: { readonly at: Date }) {
  return <time datetime={at.toISOString()}>{format.format(at)} UTC</time>
}
