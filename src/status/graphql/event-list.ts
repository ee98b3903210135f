import type { GraphQLResolveInfo } from 'graphql'
import { validIdOrEmpty } from '../../core/id.ts'
import { inRange, oneOf } from '../../core/list-filter.ts'
import { invalid } from '../../core/validation.ts'
import { decodeCursor, encodeCursor } from '../../event-log/event.ts'
import { deletedAfter } from '../../event-log/event-queries.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { EventKind } from '../../generated/prisma/enums.ts'
import { nodeQuery } from '../../graphql/list/connection.ts'
import { filterTag } from '../../graphql/list/filter.ts'
import type { Direction, Order, Page, PageArgs } from '../../graphql/list/keyset.ts'
import { orderOf, pageOf } from '../../graphql/list/keyset.ts'
import { orderInput } from '../../graphql/list/order.ts'
import type { GraphContext } from '../../graphql/schema/builder.ts'
import { builder } from './builder.ts'

/** The filter of the audit trail. */
export const EventFilter = builder.inputType('EventFilter', {
  description: 'Conditions. Items must match all of them.',
  fields: (t) => ({
    occurredAfter: t.field({ type: 'DateTime', required: false, description: 'Occurred at or after this time.' }),
    occurredBefore: t.field({ type: 'DateTime', required: false, description: 'Occurred before this time.' }),
    kind: t.field({ type: [EventKind], required: false, description: 'With one of these values.' }),
    subjectId: t.id({ required: false, description: 'Events about this object.' }),
    apiKeyId: t.id({ required: false, description: 'Performed with this API key.' }),
  }),
})

/** The order of the audit trail. */
export const EventOrder = orderInput('Event', {
  OCCURRED_AT:
    'When the event occurred. Without a time range, events are in log order, and subscriptions accept their cursors.',
})

interface Args extends PageArgs {
  readonly filter?: (typeof EventFilter)['$inferInput'] | null
  readonly orderBy?: (typeof EventOrder)['$inferInput'] | null
}

/**
 * Returns a page of an organization's events. Reads a time range in order of time, which has an index. It differs from
 * log order only by the differences between the clocks of machines.
 * @throws Invalid for invalid arguments.
 */
export function eventPage(
  ctx: GraphContext,
  info: GraphQLResolveInfo,
  organizationId: string,
  { filter, orderBy, ...args }: Args,
): Page<Prisma.EventGetPayload<object>> {
  const direction = orderBy?.direction ?? 'desc'
  const { subjectId, apiKeyId } = filter ?? {}
  const kind = oneOf('kind', filter?.kind)
  const at = inRange('occurred', filter?.occurredAfter, filter?.occurredBefore)
  const rows = {
    args,
    where: {
      organizationId,
      ...(kind && { kind }),
      ...(at && { at }),
      ...(subjectId && { subjectId: validIdOrEmpty(subjectId) }),
      ...(apiKeyId && { actorKeyId: validIdOrEmpty(apiKeyId) }),
    },
    read: (slice: Prisma.EventFindManyArgs) => ctx.db.event.findMany({ ...nodeQuery('Event', ctx, info), ...slice }),
    count: (query: { readonly where: Prisma.EventWhereInput }) => ctx.db.event.count(query),
  }
  if (!at) return pageOf({ ...rows, order: inLogOrder(direction) })
  return pageOf({
    ...rows,
    order: orderOf('Event', { at: ['time', direction], seq: ['number', direction] }, filterTag(filter)),
  })
}

/**
 * Checks that the log still has all events after a cursor. Without the check, a list in log order would silently lack
 * the events that were deleted because of their age. Lists towards older events need no check: they only end early.
 * @throws Invalid if events after the cursor were deleted.
 */
export async function requireKept(ctx: GraphContext, organizationId: string, args: Args): Promise<void> {
  const isAscending = args.orderBy?.direction === 'asc'
  const name = isAscending ? 'after' : 'before'
  const isByTime = args.filter?.occurredAfter != null || args.filter?.occurredBefore != null
  const seq = isByTime ? null : decodeCursor(args[name] ?? '')
  if (seq === null) return
  const keptSince = await deletedAfter(ctx, organizationId, seq)
  if (keptSince === null) return
  const message = `is too old: events before ${keptSince.toISOString()} were deleted. Start without a cursor`
  throw invalid([{ path: [name], message }])
}

/** The order of the log. Its cursors are those of the events, and valid with any filter. */
function inLogOrder(direction: Direction): Order<{ readonly seq: 'number' }> {
  return {
    keys: { seq: ['number', direction] },
    cursorOf: ({ seq }) => encodeCursor(seq),
    positionOf: (cursor) => {
      const seq = decodeCursor(cursor)
      return seq === null ? null : { seq }
    },
  }
}
