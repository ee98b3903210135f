import { typeOfId } from '../id.ts'
import { invalid } from '../validate.ts'

/** What a list that is given whole weighs in the reckoning of how much an operation may ask for. */
export const LIST = { field: 1, multiplier: 3 }

/**
 * The query of a page of a connection whose cursors are ids, as the database may be asked it.
 * @throws Invalid when the cursor is none of ours: Prisma fails on texts that PostgreSQL cannot hold, and on numbers.
 */
export function pageOf<Q extends { readonly cursor?: { readonly id?: unknown } }>(query: Q): Q {
  const id = query.cursor?.id
  if (id === undefined || (typeof id === 'string' && typeOfId(id) !== null)) return query
  throw invalid([{ path: ['after'], message: 'is no cursor of this connection' }])
}
