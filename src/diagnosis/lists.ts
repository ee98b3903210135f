import type { Checker } from '../blacklist/checker.ts'
import type { DnsServer } from '../core/config.ts'
import type { Finding } from './finding.ts'
import { found } from './finding.ts'

/** The name of a list and its health in lower case (`blacklist/list-health.ts`). */
export interface ListState {
  readonly name: string
  readonly status: string
}

/** Returns the health of the service's lists. */
export function listStates({ lists, lookup }: Checker): ListState[] {
  return lists.map((list) => ({ name: list.name, status: lookup.health.get(list).status }))
}

/**
 * Returns whether the resolver works for blacklists.
 * @param servers the resolvers; null: unknown.
 */
export function examineLists(states: readonly ListState[], servers: readonly DnsServer[] | null): Finding {
  const known = states.filter(({ status }) => status !== 'unknown')
  const bad = known.filter(({ status }) => status !== 'ok')
  if (known.length === 0) return found('LISTS_UNKNOWN')
  if (bad.length === 0) return found('LISTS_OK', { count: known.length })
  if (bad.length === states.length) {
    const names = servers?.map(({ address }) => address).join(', ') || 'the service’s resolver'
    const areAway = bad.every(({ status }) => status === 'unreachable')
    return found(areAway ? 'LISTS_UNREACHABLE' : 'LISTS_REFUSED', { servers: names })
  }
  return found('LISTS_FAILING', { lists: bad.map(({ name, status }) => `${name} (${status})`).join(', ') })
}
