import { createHash } from 'node:crypto'
import { costs, STATEMENT_COST } from '../document/cost.ts'

/**
 * Returns a text that identifies a filter in cursors; empty for no filter. Ignores null members and the order of lists.
 */
export function filterTag(filter: object | null | undefined): string {
  const members = Object.entries<unknown>({ ...filter })
    .filter(([, value]) => value != null)
    .map(([name, value]) => [name, Array.isArray(value) ? value.toSorted() : value] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  if (members.length === 0) return ''
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url').slice(0, 12)
}

/** The cost of searching all names of an organization. */
export const NAME_SEARCH_COST = 1000
/** The cost of searching titles and messages, for the page and its count. */
export const TIMELINE_SEARCH_COST = 50_000

/**
 * Returns the cost of a list whose filter has a `text`.
 * @param search the cost of a search that reads everything.
 * @param more the cost of other arguments.
 */
export function listCosts(search: number, more: (args: ListArgs) => number = () => 0) {
  return costs({
    itself: (args: ListArgs) => {
      const { text } = args.filter ?? {}
      return STATEMENT_COST + (typeof text === 'string' && text.trim() !== '' ? search : 0) + more(args)
    },
  })
}

/** The arguments of a list, as its cost depends on them. */
export interface ListArgs {
  readonly filter?: Readonly<Record<string, unknown>> | null
  readonly orderBy?: { readonly field: unknown } | null
}
