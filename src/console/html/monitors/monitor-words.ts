import type { Monitor } from '../../../generated/prisma/client.ts'
import type { MonitorKind, MonitorState, ProbeOutcome } from '../../../generated/prisma/enums.ts'
import { kindRules } from '../../../monitoring/monitor/probe-kinds.ts'
import type { KindWords } from '../../../monitoring/probe/probe.ts'

export const monitorStateNames = {
  PENDING: 'Pending',
  UP: 'Up',
  DEGRADED: 'Degraded',
  DOWN: 'Down',
  PAUSED: 'Paused',
} as const satisfies Record<MonitorState, string>

/** The name and description of each kind of monitor. */
export const kinds = Object.fromEntries(Object.values(kindRules).map(({ kind, words }) => [kind, words])) as Readonly<
  Record<MonitorKind, KindWords>
>

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
