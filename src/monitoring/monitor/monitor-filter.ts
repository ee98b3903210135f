import { validIdOrEmpty } from '../../core/id.ts'
import { containsText, inRange, oneOf, searchText } from '../../core/list-filter.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import type { MonitorKind, MonitorState } from '../../generated/prisma/enums.ts'
import { kindRules } from './probe-kinds.ts'

/** Conditions on monitors, all of which must match. Null and absent ones are ignored. */
export interface MonitorFilter {
  /** Part of the name or the target. */
  readonly text?: string | null | undefined
  readonly kind?: readonly MonitorKind[] | null | undefined
  readonly state?: readonly MonitorState[] | null | undefined
  /** Whether the state is unknown, regardless of the last known one. */
  readonly isUnknown?: boolean | null | undefined
  readonly serviceId?: string | null | undefined
  readonly region?: string | null | undefined
  readonly createdAfter?: Date | null | undefined
  readonly createdBefore?: Date | null | undefined
}

/**
 * Converts a filter to a condition.
 * @throws Invalid for a text that is too long, too many values, or an empty range.
 */
export function monitorsMatching(filter: MonitorFilter): Prisma.MonitorWhereInput {
  const { serviceId, isUnknown } = filter
  const text = searchText('text', filter.text)
  const kind = oneOf('kind', filter.kind)
  const state = oneOf('state', filter.state)
  const region = searchText('region', filter.region)
  const createdAt = inRange('created', filter.createdAfter, filter.createdBefore)
  return {
    ...(kind && { kind }),
    ...(state && { state }),
    ...(typeof isUnknown === 'boolean' && { [isUnknown ? 'AND' : 'NOT']: unknown }),
    ...(serviceId && { serviceId: validIdOrEmpty(serviceId) }),
    ...(region !== null && { watches: { some: { region } } }),
    ...(createdAt && { createdAt }),
    ...(text !== null && { OR: [{ name: containsText(text) }, ...targets.map((target) => watching(target, text))] }),
  }
}

/** Matches monitors whose state is unknown. Paused monitors are neither known nor unknown. */
const unknown: Prisma.MonitorWhereInput = { unknownSince: { not: null }, state: { not: 'PAUSED' } }

/** The members of options that name the target, with the kinds that have them. */
const targets = [...new Set(Object.values(kindRules).map(({ subject }) => subject))]
  .filter((member) => member !== null)
  .map((member) => ({
    kinds: Object.values(kindRules).flatMap(({ kind, subject }) => (subject === member ? [kind] : [])),
    member,
  }))

/**
 * Matches monitors whose target contains a text. Compares the kind first, so that the options of other kinds are not
 * read.
 */
function watching({ kinds, member }: (typeof targets)[number], text: string): Prisma.MonitorWhereInput {
  const { contains, mode } = containsText(text)
  return { kind: { in: [...kinds] }, options: { path: [member], string_contains: contains, mode } }
}
