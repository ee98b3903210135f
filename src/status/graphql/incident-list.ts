import type { GraphQLResolveInfo } from 'graphql'
import { ANY_CASE, searchText } from '../../core/list-filter.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { IncidentImpact, IncidentStatus, IncidentVisibility } from '../../generated/prisma/enums.ts'
import { filteredInBatches } from '../../graphql/list/batch-filter.ts'
import { nodeQuery } from '../../graphql/list/connection.ts'
import { filterTag } from '../../graphql/list/filter.ts'
import type { Page, PageArgs } from '../../graphql/list/keyset.ts'
import { orderOf, pageOf } from '../../graphql/list/keyset.ts'
import { orderInput } from '../../graphql/list/order.ts'
import type { GraphContext } from '../../graphql/schema/builder.ts'
import { incidentsMatching } from '../list-conditions.ts'
import { timelineSearch } from '../search.ts'
import { builder } from './builder.ts'

/** The filter of an organization's incidents. */
export const IncidentFilter = builder.inputType('IncidentFilter', {
  description: 'Conditions. Items must match all of them.',
  fields: (t) => ({
    text: t.string({ required: false, description: `Part of the title or of an update’s message, ${ANY_CASE}` }),
    startedAfter: t.field({ type: 'DateTime', required: false, description: 'Started at or after this time.' }),
    startedBefore: t.field({ type: 'DateTime', required: false, description: 'Started before this time.' }),
    status: t.field({ type: [IncidentStatus], required: false, description: 'With one of these values.' }),
    impact: t.field({ type: [IncidentImpact], required: false, description: 'With one of these values.' }),
    visibility: t.field({ type: [IncidentVisibility], required: false, description: 'With one of these values.' }),
    open: t.boolean({ required: false, description: 'True: only open incidents. False: only resolved ones.' }),
    serviceId: t.id({ required: false, description: 'Affecting this service.' }),
  }),
})

/** The filter of a page's resolved incidents. */
export const PastIncidentFilter = builder.inputType('PastIncidentFilter', {
  description: 'Conditions. Items must match all of them.',
  fields: (t) => ({
    text: t.string({ required: false, description: `Part of the title or of an update’s message, ${ANY_CASE}` }),
    startedAfter: t.field({ type: 'DateTime', required: false, description: 'Started at or after this time.' }),
    startedBefore: t.field({ type: 'DateTime', required: false, description: 'Started before this time.' }),
    impact: t.field({ type: [IncidentImpact], required: false, description: 'With one of these values.' }),
    serviceId: t.id({ required: false, description: 'Affecting this service.' }),
  }),
})

/** The order of incidents. */
export const IncidentOrder = orderInput('Incident', { STARTED_AT: 'When it started.' })

interface Args extends PageArgs {
  readonly filter?: ((typeof IncidentFilter)['$inferInput'] & (typeof PastIncidentFilter)['$inferInput']) | null
  readonly orderBy?: (typeof IncidentOrder)['$inferInput'] | null
}

/**
 * Returns a page of the incidents that match a condition and the filter.
 * @throws Invalid for invalid arguments.
 */
export function incidentPage(
  ctx: GraphContext,
  info: GraphQLResolveInfo,
  scope: Prisma.IncidentWhereInput,
  { filter, orderBy, ...args }: Args,
): Page<Prisma.IncidentGetPayload<object>> {
  const direction = orderBy?.direction ?? 'desc'
  const order = orderOf('Incident', { startedAt: ['time', direction], id: ['text', direction] }, filterTag(filter))
  const text = searchText('text', filter?.text)
  const where = { AND: [scope, incidentsMatching(filter ?? {})] } satisfies Prisma.IncidentWhereInput
  const include = nodeQuery('Incident', ctx, info)
  if (text === null) {
    return pageOf({
      order,
      args,
      where,
      read: (slice) => ctx.db.incident.findMany({ ...include, ...slice }),
      count: (query) => ctx.db.incident.count(query),
    })
  }
  const searched = filteredInBatches({
    order,
    candidates: (slice: Prisma.IncidentFindManyArgs) =>
      ctx.db.incident.findMany({ ...slice, select: { id: true, startedAt: true } }),
    selectMatching: timelineSearch(ctx, 'Incident', text),
    read: (ids) => ctx.db.incident.findMany({ ...include, where: { id: { in: ids } } }),
  })
  return pageOf({ order, args, where, ...searched })
}
