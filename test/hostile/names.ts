import { ask, asNewVisitor, type HostileCase } from './case.ts'
import { watch } from './probes.ts'
import { nameIn, zoneKinds } from './zone.ts'

/** What name servers answer, to a check of a domain and to monitors of addresses and texts. */
export const names: readonly HostileCase[] = zoneKinds.flatMap((kind): HostileCase[] => [
  {
    name: `a check of a domain: ${kind}`,
    statuses: [200],
    send: ({ url }) => ask(url, `/api/blacklist-monitor/domain?target=${nameIn(kind)}`, { headers: asNewVisitor() }),
  },
  ...(['A', 'TXT'] as const).map(
    (recordType): HostileCase => ({
      name: `a DNS monitor of ${recordType} records: ${kind}`,
      statuses: [200],
      send: (target) => watch(target, { timeoutMs: 1000, dns: { name: nameIn(kind), recordType } }),
    }),
  ),
])
