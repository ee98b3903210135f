import type { Monitor } from '../../../generated/prisma/client.ts'
import type { MonitorKind, MonitorState, ProbeOutcome } from '../../../generated/prisma/enums.ts'
import type { DescribedKind } from '../../../monitoring/monitor/probe-kinds.ts'
import { describedKinds } from '../../../monitoring/monitor/probe-kinds.ts'

export const monitorStateNames = {
  PENDING: 'Pending',
  UP: 'Up',
  DEGRADED: 'Degraded',
  DOWN: 'Down',
  PAUSED: 'Paused',
} as const satisfies Record<MonitorState, string>

const described = Object.fromEntries(
  Object.entries(describedKinds).map(([kind, { words }]) => [kind, { name: words.name, about: words.about }]),
) as Record<DescribedKind, { readonly name: string; readonly about: string }>

/** The name and description of each kind of monitor. */
export const kinds = {
  HTTP: { name: 'Website', about: 'Requests a URL and judges the response.' },
  TCP: { name: 'TCP port', about: 'Connects to a port, optionally with TLS, and waits for a text.' },
  PING: { name: 'Ping', about: 'Sends packets to a host.' },
  DNS: { name: 'DNS', about: 'Queries the records of a name.' },
  HEARTBEAT: { name: 'Heartbeat', about: 'Waits for a job, such as a backup, to report.' },
  BLACKLIST: { name: 'Blacklists', about: 'Checks an address or a domain on the mail blacklists.' },
  GROUP: { name: 'Group', about: 'Follows other monitors: all, any or some of them must be up.' },
  ...described,
} as const satisfies Record<MonitorKind, { readonly name: string; readonly about: string }>

export const outcomeNames = {
  UP: 'Up',
  DEGRADED: 'Degraded',
  DOWN: 'Down',
  UNKNOWN: 'No data',
} as const satisfies Record<ProbeOutcome, string>

/** Returns the displayed state of a monitor: a stale one is unknown. */
export function shownState({ state, unknownSince }: Pick<Monitor, 'state' | 'unknownSince'>) {
  const isUnknown = unknownSince !== null && state !== 'PAUSED'
  return isUnknown ? ({ state: 'UNKNOWN', name: 'No data' } as const) : { state, name: monitorStateNames[state] }
}
