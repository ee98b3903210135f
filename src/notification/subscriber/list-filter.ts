import { validIdOrEmpty } from '../../core/id.ts'
import { containsText, inRange, oneOf, searchText } from '../../core/list-filter.ts'
import type { Prisma, Subscriber } from '../../generated/prisma/client.ts'
import type { ChannelKind } from '../../generated/prisma/enums.ts'
import { active, ofPage } from './subscriber-conditions.ts'

/** The states of a subscription. */
export type SubscriberStateName = 'PENDING' | 'ACTIVE' | 'STOPPED'

/** Returns the state of a subscription. */
export function subscriberState({
  confirmedAt,
  stoppedAt,
}: Pick<Subscriber, 'confirmedAt' | 'stoppedAt'>): SubscriberStateName {
  if (stoppedAt !== null) return 'STOPPED'
  return confirmedAt === null ? 'PENDING' : 'ACTIVE'
}

/** Conditions on what was created for a channel. */
export interface CreationFilter {
  readonly channel?: readonly ChannelKind[] | null | undefined
  readonly createdAfter?: Date | null | undefined
  readonly createdBefore?: Date | null | undefined
}

/** Conditions on subscribers, which must all be met. Null and absent ones are ignored. */
export interface SubscriberFilter extends CreationFilter {
  readonly state?: readonly SubscriberStateName[] | null | undefined
  /** Part of the address as shown on screens. */
  readonly address?: string | null | undefined
  /** The page that they follow. */
  readonly pageId?: string | null | undefined
}

const states = {
  PENDING: { confirmedAt: null, stoppedAt: null },
  ACTIVE: active,
  STOPPED: { stoppedAt: { not: null } },
} as const satisfies Record<SubscriberStateName, Prisma.SubscriberWhereInput>

/**
 * Returns the condition of subscribers that match a filter.
 * @throws Invalid for too long a text, too many values or an empty range.
 */
export function subscribersMatching(filter: SubscriberFilter): Prisma.SubscriberWhereInput {
  const channel = oneOf('channel', filter.channel)
  const state = oneOf('state', filter.state)
  const address = searchText('address', filter.address)
  const createdAt = inRange('created', filter.createdAfter, filter.createdBefore)
  return {
    ...(channel && { channel }),
    ...(state && { OR: state.in.map((each) => states[each]) }),
    ...(filter.pageId && { AND: [ofPage(validIdOrEmpty(filter.pageId))] }),
    ...(address !== null && { label: containsText(address) }),
    ...(createdAt && { createdAt }),
  }
}
