import type { Context } from '../core/context.ts'
import type { Alert, AlertChannel, AlertDelivery, Prisma } from '../generated/prisma/client.ts'

type Db = Pick<Context, 'db'>

const newestFirst = [{ openedAt: 'desc' as const }, { id: 'desc' as const }]

/** Returns the open alerts of an organization, newest first. */
export function listOpenAlerts({ db }: Db, organizationId: string, limit: number): Promise<Alert[]> {
  return db.alert.findMany({ where: { organizationId, endedAt: null }, orderBy: newestFirst, take: limit })
}

/** Returns the ended alerts of an organization, newest first. */
export function listPastAlerts({ db }: Db, organizationId: string, limit: number): Promise<Alert[]> {
  return db.alert.findMany({ where: { organizationId, endedAt: { not: null } }, orderBy: newestFirst, take: limit })
}

/** An alert channel with its latest finished delivery. */
export type ListedChannel = AlertChannel & { readonly deliveries: readonly AlertDelivery[] }

/** Returns the alert channels of an organization, oldest first. */
export function listAlertChannels({ db }: Db, organizationId: string): Promise<ListedChannel[]> {
  return db.alertChannel.findMany({
    where: { organizationId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    include: { deliveries: { where: { endedAt: { not: null } }, orderBy: { position: 'desc' }, take: 1 } },
  })
}

/** Returns the alert channels of an organization, sorted by name. @param exceptId a channel to leave out, or null. */
export function listOtherChannels(
  { db }: Db,
  organizationId: string,
  exceptId: string | null,
): Promise<Pick<AlertChannel, 'id' | 'name'>[]> {
  return db.alertChannel.findMany({
    where: { organizationId, ...(exceptId !== null && { id: { not: exceptId } }) },
    select: { id: true, name: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
  })
}

/** Returns the deliveries to an alert channel, newest first. */
export function listAlertDeliveries({ db }: Db, channelId: string, limit: number): Promise<AlertDelivery[]> {
  return db.alertDelivery.findMany({ where: { channelId }, orderBy: { position: 'desc' }, take: limit })
}

/** Returns the queries that page through the deliveries to an alert channel. */
export function pageableAlertDeliveries({ db }: Db, channelId: string) {
  return {
    where: { channelId },
    read: (slice: Prisma.AlertDeliveryFindManyArgs): Promise<AlertDelivery[]> => db.alertDelivery.findMany(slice),
    count: (query: Prisma.AlertDeliveryCountArgs) => db.alertDelivery.count({ where: query.where, take: query.take }),
  }
}
