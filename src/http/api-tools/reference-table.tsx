import type { Child } from 'hono/jsx'

/** Renders a table that scrolls by itself, also by keyboard. */
export function ReferenceTable({
  label,
  heads,
  children,
}: {
  /** What it shows, for screen readers; unique in the page. */
  readonly label: string
  readonly heads: readonly string[]
  readonly children: Child
}) {
  return (
    <section class="table" tabindex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}
