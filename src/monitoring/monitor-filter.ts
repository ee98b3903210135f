import { validIdOrEmpty } from '../core/id.ts'
import { containsText, inRange, oneOf, searchText } from '../core/list-filter.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import type { MonitorKind, MonitorState } from '../generated/prisma/enums.ts'
import { kindRules } from './probe-kinds.ts'

/** Conditions of monitors, which must match all of them; null and absent ones count as met. */
export interface MonitorFilter {
  /** Part of the name or of what is watched. */
  readonly text?: string | null | undefined
  readonly kind?: readonly MonitorKind[] | null | undefined
  readonly state?: readonly MonitorState[] | null | undefined
  /** Whether the state is unknown, whatever it was before. */
  readonly isUnknown?: boolean | null | undefined
  readonly serviceId?: string | null | undefined
  readonly region?: string | null | undefined
  readonly createdAfter?: Date | null | undefined
  readonly createdBefore?: Date | null | undefined
}

/**
 * Returns the condition of monitors that match a filter.
 * @throws Invalid for too long a text, too many values and an empty range.
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

/** A monitor that is paused has no state to know. */
const unknown: Prisma.MonitorWhereInput = { unknownSince: { not: null }, state: { not: 'PAUSED' } }

/** The options that name what is watched, and the kinds that have each. */
const targets = [...new Set(Object.values(kindRules).map(({ subject }) => subject))]
  .filter((member) => member !== null)
  .map((member) => ({
    kinds: Object.values(kindRules).flatMap(({ kind, subject }) => (subject === member ? [kind] : [])),
    member,
  }))

/** The kind comes first, so that the options of other kinds are not read. */
function watching({ kinds, member }: (typeof targets)[number], text: string): Prisma.MonitorWhereInput {
  const { contains, mode } = containsText(text)
  return { kind: { in: [...kinds] }, options: { path: [member], string_contains: contains, mode } }
}
