import { doorsOf } from '../support/runs.ts'
import { ask, asNewVisitor, type HostileCase } from './case.ts'
import { watch } from './probes.ts'
import { nameIn, zoneKinds } from './zone.ts'

type Kind = (typeof zoneKinds)[number]

const check = (kind: Kind): HostileCase => ({
  name: `a check of a domain: ${kind}`,
  statuses: [200],
  waits: true,
  send: ({ url }) => ask(url, `/api/blacklist-monitor/domain?target=${nameIn(kind)}`, { headers: asNewVisitor() }),
})
const monitorOf =
  (recordType: 'A' | 'TXT') =>
  (kind: Kind): HostileCase => ({
    name: `a DNS monitor of ${recordType} records: ${kind}`,
    statuses: [200],
    waits: true,
    send: (target) => watch(target, { dns: { name: nameIn(kind), recordType } }, 1000),
  })

/** Answers of name servers to a check of a domain and to monitors of addresses and texts, which use the same client. */
export const names: readonly HostileCase[] = doorsOf(zoneKinds, [check, monitorOf('A'), monitorOf('TXT')]).flatMap(
  ([kind, doors]) => doors.map((caseOf) => caseOf(kind)),
)
