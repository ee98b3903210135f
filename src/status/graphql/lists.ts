import type { Prisma } from '../../generated/prisma/client.ts'
import { typeOfId } from '../../id.ts'
import { invalid } from '../../validate.ts'

/** The order in which services and groups stand on the page. */
export const inPageOrder = [{ position: 'asc' }, { id: 'asc' }] satisfies Prisma.ServiceOrderByWithRelationInput[]

/** The order of a timeline. */
export const newestFirst = [
  { createdAt: 'desc' },
  { id: 'desc' },
] satisfies Prisma.IncidentUpdateOrderByWithRelationInput[]

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
