import type { Context, Database } from '../../core/context.ts'
import type { Incident, Prisma, Subscriber } from '../../generated/prisma/client.ts'
import type { SubscriberFilter } from './list-filter.ts'
import { subscribersMatching } from './list-filter.ts'
import { active } from './subscriber-conditions.ts'

type Db = Pick<Context, 'db'>

/**
 * Returns the queries that page through the subscribers of an organization that match a filter.
 * @throws Invalid for an invalid filter.
 */
export function pageableSubscribers({ db }: Db, organizationId: string, filter: SubscriberFilter) {
  return {
    where: { organizationId, ...subscribersMatching(filter) },
    read: (slice: Prisma.SubscriberFindManyArgs): Promise<Subscriber[]> => db.subscriber.findMany(slice),
    count: (query: Prisma.SubscriberCountArgs) => db.subscriber.count({ where: query.where, take: query.take }),
  }
}

/** Returns which of the ids are subscribers of the organization, newest first. */
export function readSubscriberLabels(
  { db }: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<Pick<Subscriber, 'id' | 'label'>[]> {
  return db.subscriber.findMany({
    where: { organizationId, id: { in: [...ids] } },
    select: { id: true, label: true },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  })
}

/** Returns whether an organization has, or ever had, a subscriber. */
export async function hasSubscribers({ db }: Db, organizationId: string): Promise<boolean> {
  return (await db.subscriber.findFirst({ where: { organizationId }, select: { id: true } })) !== null
}

/**
 * Counts the subscribers of each page of an organization that have not unsubscribed. The key of the first page is null.
 */
export async function countByPage({ db }: Db, organizationId: string): Promise<ReadonlyMap<string | null, number>> {
  const found = await db.subscriber.groupBy({
    by: ['pageId'],
    where: { organizationId, stoppedAt: null },
    _count: true,
  })
  return new Map(found.map(({ pageId, _count }) => [pageId, _count]))
}

/** Counts the subscribers of a page, other than the first, that have not unsubscribed. */
export function countOfPage({ db }: Db, pageId: string): Promise<number> {
  return db.subscriber.count({ where: { pageId, stoppedAt: null } })
}

/** Counts the active subscribers of a page. */
export function countSubscribers(
  { db }: Db,
  page: { readonly id: string; readonly organizationId: string; readonly isFirst: boolean },
): Promise<number> {
  return db.subscriber.count({
    where: {
      organizationId: page.organizationId,
      ...active,
      ...(page.isFirst ? { OR: [{ pageId: null }, { pageId: page.id }] } : { pageId: page.id }),
    },
  })
}

/** Counts the subscribers that chose a page and were not stopped. */
export function countPageSubscribers(db: Database, pageId: string): Promise<number> {
  return db.subscriber.count({ where: { pageId, stoppedAt: null } })
}

/** Returns the ids of the services that a subscriber has chosen. */
export async function chosenServiceIds({ db }: Db, subscriberId: string): Promise<string[]> {
  const found = await db.subscriberService.findMany({ where: { subscriberId }, select: { serviceId: true } })
  return found.map(({ serviceId }) => serviceId)
}

/** Returns the newest incidents that a subscriber follows. */
export function listFollowedIncidents(
  { db }: Db,
  subscriberId: string,
  limit: number,
): Promise<Pick<Incident, 'title' | 'titles'>[]> {
  return db.incident.findMany({
    where: { followers: { some: { subscriberId } } },
    select: { title: true, titles: true },
    orderBy: { startedAt: 'desc' },
    take: limit,
  })
}
