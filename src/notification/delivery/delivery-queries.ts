import type { Context } from '../../core/context.ts'
import type { Delivery, Prisma, Subscriber } from '../../generated/prisma/client.ts'
import { findOwned } from '../../status/ownership.ts'
import type { DeliveryFilter } from './list-filter.ts'
import { deliveriesMatching } from './list-filter.ts'

type Db = Pick<Context, 'db'>

/** A delivery with the label of its subscriber. */
export type LabelledDelivery = Delivery & { readonly subscriber: Pick<Subscriber, 'label'> }

const include = { subscriber: { select: { label: true } } } as const

/**
 * Returns the queries that page through the deliveries of an organization that match a filter.
 * @throws Invalid for an invalid filter.
 */
export function pageableDeliveries({ db }: Db, organizationId: string, filter: DeliveryFilter) {
  return {
    where: { organizationId, ...deliveriesMatching(filter) },
    read: (slice: Omit<Prisma.DeliveryFindManyArgs, 'select' | 'include'>): Promise<LabelledDelivery[]> =>
      db.delivery.findMany({ ...slice, include }),
    count: (query: Prisma.DeliveryCountArgs) => db.delivery.count({ where: query.where, take: query.take }),
  }
}

/** Returns a delivery of an organization. @throws NotFound. */
export function findDelivery({ db }: Db, organizationId: string, id: string): Promise<LabelledDelivery> {
  return findOwned('Delivery', id, (known) => db.delivery.findUnique({ where: { id: known, organizationId }, include }))
}

/** The due deliveries of all organizations. */
export interface DueDeliveries {
  readonly count: number
  /** When the first of them became due; null if there is none. */
  readonly since: Date | null
}

/** Counts the deliveries that are due. The caller checks permissions. */
export async function countDueDeliveries({ db, now }: Pick<Context, 'db' | 'now'>): Promise<DueDeliveries> {
  const [due] = await db.$queryRaw<DueDeliveries[]>`
    SELECT count(*)::int AS count, min("dueAt") AS since FROM "Delivery" WHERE "dueAt" < ${now()}::timestamptz`
  return due ?? { count: 0, since: null }
}
