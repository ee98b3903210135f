import type { Child } from 'hono/jsx'

/**
 * Renders a table that scrolls if it is too wide.
 * @param heads of its columns.
 */
export function Table({ heads, children }: { readonly heads: readonly string[]; readonly children?: Child }) {
  return (
    <div class="table-scroll">
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
    </div>
  )
}
