import type { Child } from 'hono/jsx'

/**
 * Renders a table. Where it is too wide it scrolls, by the keyboard too: Safari focuses only what has a `tabindex`.
 * @param label its subject, for screen readers.
 * @param heads of its columns.
 */
export function Table({
  label,
  heads,
  children,
}: {
  readonly label: string
  readonly heads: readonly string[]
  readonly children?: Child
}) {
  return (
    <section class="table-scroll" aria-label={label} tabindex={0}>
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
