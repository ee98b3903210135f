import type { Context } from '../core/context.ts'
import type { IncomingBody, Integration, Prisma } from '../generated/prisma/client.ts'
import type { IncomingStatus } from '../generated/prisma/enums.ts'
import { MAX_INTEGRATIONS } from './integration.ts'

type Db = Pick<Context, 'db'>

/** Returns the integrations of an organization, oldest first. */
export function listIntegrations({ db }: Db, organizationId: string): Promise<Integration[]> {
  return db.integration.findMany({
    where: { organizationId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    take: MAX_INTEGRATIONS,
  })
}

/** Returns the queries that page through the integrations of an organization. */
export function pageableIntegrations({ db }: Db, organizationId: string) {
  return {
    where: { organizationId },
    read: (slice: Prisma.IntegrationFindManyArgs): Promise<Integration[]> => db.integration.findMany(slice),
    count: (query: Prisma.IntegrationCountArgs) => db.integration.count({ where: query.where, take: query.take }),
  }
}

/**
 * Returns the queries that page through the messages that an integration received.
 * @param statuses only messages in these states; all by default.
 */
export function pageableReceived({ db }: Db, integrationId: string, statuses?: readonly IncomingStatus[] | null) {
  return {
    where: { integrationId, ...(statuses && { status: { in: [...statuses] } }) },
    read: (slice: Prisma.IncomingBodyFindManyArgs): Promise<IncomingBody[]> => db.incomingBody.findMany(slice),
    count: (query: Prisma.IncomingBodyCountArgs) => db.incomingBody.count({ where: query.where, take: query.take }),
  }
}
