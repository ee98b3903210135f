import { validIdOrEmpty } from '../../core/id.ts'
import { inRange, oneOf } from '../../core/list-filter.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import type { DeliveryStatus } from '../../generated/prisma/enums.ts'
import type { CreationFilter } from '../subscriber/list-filter.ts'

/** Conditions on deliveries, which must all be met. Null and absent ones are ignored. */
export interface DeliveryFilter extends CreationFilter {
  readonly status?: readonly DeliveryStatus[] | null | undefined
  readonly subscriberId?: string | null | undefined
}

/** Returns the condition of deliveries that match a filter. @throws Invalid for too many values or an empty range. */
export function deliveriesMatching(filter: DeliveryFilter): Prisma.DeliveryWhereInput {
  const { subscriberId } = filter
  const channel = oneOf('channel', filter.channel)
  const status = oneOf('status', filter.status)
  const createdAt = inRange('created', filter.createdAfter, filter.createdBefore)
  return {
    ...(channel && { channel }),
    ...(status && { status }),
    ...(subscriberId && { subscriberId: validIdOrEmpty(subscriberId) }),
    ...(createdAt && { createdAt }),
  }
}
