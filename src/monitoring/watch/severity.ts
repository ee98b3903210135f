import type { MonitorState } from '../../generated/prisma/enums.ts'

/** How bad each state is, higher is worse; null: the state comes from no result. */
const severities = { PENDING: null, PAUSED: null, UP: 0, DEGRADED: 1, DOWN: 2 } as const satisfies Readonly<
  Record<MonitorState, number | null>
>

/** A state that comes from results. */
export type KnownState = {
  [State in MonitorState]: (typeof severities)[State] extends number ? State : never
}[MonitorState]

/** Returns whether a state comes from results. */
export const isKnownState = (state: MonitorState): state is KnownState => severities[state] !== null

/** Returns how bad a state is: higher is worse. A state that comes from no result is as good as UP. */
export const severityOf = (state: MonitorState): number => severities[state] ?? 0
