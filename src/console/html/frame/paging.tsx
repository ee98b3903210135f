import type { Context as HttpContext } from 'hono'
import type { Child } from 'hono/jsx'
import { filterTag } from '../../../graphql/list/filter.ts'
import type { Keys, Position, Source } from '../../../graphql/list/keyset.ts'
import { orderOf, pageOf } from '../../../graphql/list/keyset.ts'

/** Rows of a list per page. */
export const ROWS_PER_PAGE = 50

/** A page of a list, with the addresses of its neighbours, or null. */
export interface ListPage<Row> {
  readonly rows: readonly Row[]
  readonly previous: string | null
  readonly next: string | null
}

/** The parameters of a list, from the address, like the arguments of a connection of the API. */
interface ListSource<K extends Keys, Row, W> extends Omit<Source<K, Row, W>, 'args'> {
  /** The address of the list, without a query. */
  readonly path: string
}

/** The order of most lists: by creation. */
export function byCreation(type: string, direction: 'asc' | 'desc', filter: object) {
  return orderOf(type, { createdAt: ['time', direction], id: ['text', direction] }, filterTag(filter))
}

/**
 * Reads the page of a list for the cursor in the address, `after` or `before`. Runs at most two statements.
 * @throws Invalid for a cursor of another list or filter.
 */
export async function readListPage<K extends Keys, Row extends Position<K>, W>(
  c: HttpContext,
  source: ListSource<K, Row, W>,
): Promise<ListPage<Row>> {
  const { after, before } = c.req.query()
  const args = before === undefined ? { first: ROWS_PER_PAGE, after } : { last: ROWS_PER_PAGE, before }
  const page = pageOf({ ...source, args })
  const edges = await page.edges()
  const [hasNext, hasPrevious] = [await page.hasNextPage(), await page.hasPreviousPage()]
  const link = (name: 'after' | 'before', index: number) => {
    const row = edges.at(index)?.node
    return source.path + queryOf(c, row === undefined ? {} : { [name]: source.order.cursorOf(row) })
  }
  return {
    rows: edges.map(({ node }) => node),
    previous: hasPrevious ? link('before', 0) : null,
    next: hasNext ? link('after', -1) : null,
  }
}

/** Returns the query of the request's address with another position, with its `?`; the filter stays. */
export function queryOf(c: HttpContext, position: Readonly<Record<string, string>> = {}): string {
  const query = new URL(c.req.url).searchParams
  for (const name of ['after', 'before']) query.delete(name)
  for (const [name, cursor] of Object.entries(position)) query.set(name, cursor)
  return query.size === 0 ? '' : `?${query}`
}

/** Renders the form that filters a list. @param action the address of the list. */
export function FilterForm({ action, children }: { readonly action: string; readonly children?: Child }) {
  return (
    <search>
      <form class="filters" action={action}>
        {children}
        <button type="submit" class="quiet">
          Show
        </button>
      </form>
    </search>
  )
}

/** Renders the links to the neighbouring pages of a list. */
export function PageLinks({ previous, next }: Pick<ListPage<unknown>, 'previous' | 'next'>) {
  if (previous === null && next === null) return null
  return (
    <nav class="pages" aria-label="Pages">
      {previous === null ? null : (
        <a href={previous} rel="prev">
          Previous
        </a>
      )}
      {next === null ? null : (
        <a href={next} rel="next">
          Next
        </a>
      )}
    </nav>
  )
}

/** Reads the page number of a numbered list; 1: the first. */
export const pageNumber = (text: string | null | undefined): number =>
  Math.min(Math.max(Math.trunc(Number(text)) || 1, 1), 1000)

/** Renders the links to the neighbouring pages of a numbered list. */
export function NumberedPages({ number, pages }: { readonly number: number; readonly pages: number }) {
  const previous = number > 1 ? `?page=${number - 1}` : null
  const next = number < pages ? `?page=${number + 1}` : null
  return <PageLinks {...{ previous, next }} />
}

/** Returns a text in the address that filters a list; undefined: none. */
export function textParam(c: HttpContext, name: string): string | undefined {
  return c.req.query(name)?.trim() || undefined
}

/** Returns the values in the address that filter a list, if they are among `known`; undefined: none. */
export function choiceParam<T extends string>(c: HttpContext, name: string, known: readonly T[]): T[] | undefined {
  const given = c.req.queries(name) ?? []
  const chosen = known.filter((value) => given.includes(value))
  return chosen.length === 0 ? undefined : chosen
}
