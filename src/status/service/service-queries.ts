import type { Context } from '../../core/context.ts'
import type { Prisma, Service, ServiceGroup } from '../../generated/prisma/client.ts'
import type { ShownService } from './shown-status.ts'
import { shownServiceOf, statusCausesSelect } from './shown-status.ts'

type Db = Pick<Context, 'db'>

/** A service in a form. */
export type NamedService = Pick<Service, 'id' | 'name' | 'groupId'>

const selection = { id: true, name: true, groupId: true } as const
const inPageOrder = [{ position: 'asc' as const }, { id: 'asc' as const }]

/**
 * Returns the services of an organization, in page order.
 * @param only the services that a page shows; null: all.
 */
export function listServices(
  { db }: Db,
  organizationId: string,
  only: readonly string[] | null = null,
): Promise<NamedService[]> {
  const where = { organizationId, ...(only !== null && { id: { in: [...only] } }) }
  return db.service.findMany({ where, select: selection, orderBy: inPageOrder })
}

/** The choices of a form: the selected services, and others. */
export interface Offer<T> {
  readonly chosen: readonly T[]
  readonly others: readonly T[]
  /** Whether there are more. */
  readonly hasMore: boolean
}

/**
 * Returns the selected services, and the first others in page order.
 * @param limit the maximum number of others.
 */
export async function offerServices(
  { db }: Db,
  organizationId: string,
  chosenIds: readonly string[],
  limit: number,
): Promise<Offer<NamedService>> {
  const all = { select: selection, orderBy: inPageOrder }
  const [chosen, others] = await Promise.all([
    chosenIds.length === 0
      ? []
      : db.service.findMany({ where: { organizationId, id: { in: [...chosenIds] } }, ...all }),
    db.service.findMany({ where: { organizationId, id: { notIn: [...chosenIds] } }, ...all, take: limit + 1 }),
  ])
  return { chosen, others: others.slice(0, limit), hasMore: others.length > limit }
}

/** The objects that refer to a service, and stay when it is deleted. */
export interface ServiceUses {
  readonly monitors: number
  readonly incidents: number
  readonly maintenances: number
  readonly subscribers: number
}

/** Counts the objects that refer to a service. */
export async function countServiceUses({ db }: Db, id: string): Promise<ServiceUses> {
  const select = { monitors: true, incidents: true, maintenances: true, subscribers: true } as const
  return (await db.service.findUniqueOrThrow({ where: { id }, select: { _count: { select } } }))._count
}

/** Returns the service groups of an organization, in page order. */
export function listServiceGroups({ db }: Db, organizationId: string): Promise<Pick<ServiceGroup, 'id' | 'name'>[]> {
  const select = { id: true, name: true } as const
  return db.serviceGroup.findMany({ where: { organizationId }, select, orderBy: inPageOrder })
}

/** Counts the services of a group. */
export function countServicesInGroup({ db }: Db, groupId: string): Promise<number> {
  return db.service.count({ where: { groupId } })
}

/** An object with a position on the page of its organization. */
export interface Placed {
  readonly id: string
  readonly organizationId: string
}

const placed = { select: { id: true, organizationId: true }, orderBy: inPageOrder } as const

/** Returns all services of organizations, in page order. */
export function readServiceOrder({ db }: Db, organizationIds: readonly string[]): Promise<Placed[]> {
  return db.service.findMany({ where: { organizationId: { in: [...organizationIds] } }, ...placed })
}

/** Returns all service groups of organizations, in page order. */
export function readGroupOrder({ db }: Db, organizationIds: readonly string[]): Promise<Placed[]> {
  return db.serviceGroup.findMany({ where: { organizationId: { in: [...organizationIds] } }, ...placed })
}

/** Returns those of an organization’s services whose status nobody has stated. */
export async function findUnstatedIds(
  { db }: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const where = { organizationId, id: { in: [...ids] }, statedAt: null, statusOverride: null }
  return new Set((await db.service.findMany({ where, select: { id: true } })).map(({ id }) => id))
}

/** A service with its shown status. */
export interface ServiceWithStatus
  extends Pick<Service, 'id' | 'name' | 'position'>,
    Pick<ShownService, 'shown' | 'status'> {}

/** Returns the shown statuses of the services that match a condition. */
export async function readShownStatuses({ db }: Db, where: Prisma.ServiceWhereInput): Promise<ServiceWithStatus[]> {
  const select = { id: true, name: true, position: true, ...statusCausesSelect } as const
  const services = await db.service.findMany({ where, select })
  return services.map((service) => {
    const { id, name, position } = service
    const { shown, status } = shownServiceOf(service)
    return { id, name, position, shown, status }
  })
}
