import type { DnsServer } from '../../core/config.ts'
import { createLruMap } from '../../core/lru-map.ts'
import { MINUTE } from '../../core/time.ts'

/** Remembers for a while which resolvers do not understand EDNS, so that each query to them is sent once. */
export interface EdnsMemory {
  has(server: DnsServer, at: Date): boolean
  add(server: DnsServer, at: Date): void
}

/** How long a resolver is remembered, in milliseconds. It may be replaced by one that understands EDNS. */
const KEPT_MS = 15 * MINUTE
/** The maximum number of resolvers. Owners of monitors may name any. */
const MAX_KEPT = 1000

/** Creates an empty memory. If the clock is set back, what was noted after the new time is forgotten. */
export function createEdnsMemory(): EdnsMemory {
  const noted = createLruMap<number>(MAX_KEPT)
  const keyOf = ({ address, port }: DnsServer) => `${address} ${port}`
  return {
    has(server, at) {
      const since = noted.get(keyOf(server))
      const age = since === undefined ? Number.NaN : at.getTime() - since
      return age >= 0 && age < KEPT_MS
    },
    add: (server, at) => noted.set(keyOf(server), at.getTime()),
  }
}
