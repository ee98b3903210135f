import type { Prisma } from '../../generated/prisma/client.ts'

/** The order in which services and groups stand on the page. */
export const inPageOrder = [{ position: 'asc' }, { id: 'asc' }] satisfies Prisma.ServiceOrderByWithRelationInput[]

/** The order of a timeline. */
export const newestFirst = [
  { createdAt: 'desc' },
  { id: 'desc' },
] satisfies Prisma.IncidentUpdateOrderByWithRelationInput[]
