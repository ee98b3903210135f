import type { Context } from '../core/context.ts'
import type { Event } from '../generated/prisma/client.ts'
import type { BurnSpeed, EventKind } from '../generated/prisma/enums.ts'
import type { Finding } from './finding.ts'

/** The kinds of events that can be about an objective’s alert. */
export const objectiveKinds: ReadonlySet<EventKind> = new Set<EventKind>([
  'OBJECTIVE_BURNING',
  'OBJECTIVE_RECOVERED',
  'OBJECTIVE_DELETED',
])

const speeds = {
  FAST: 'fast, as seen over an hour',
  SLOW: 'as seen over 6 hours',
  STEADY: 'as seen over 3 days',
} as const satisfies Record<BurnSpeed, string>

/** Returns what an event says of its objective; null: nothing, as later events do. */
export async function objectiveFindingOf(
  { db }: Pick<Context, 'db'>,
  { kind, subjectId, organizationId, at }: Event,
): Promise<Finding | null> {
  const objective = await db.objective.findUnique({ where: { id: subjectId, organizationId } })
  if (objective === null) return { kind: 'CLOSED', state: 'PAUSED', message: 'The objective was deleted.' }
  if (kind === 'OBJECTIVE_RECOVERED') return { kind: 'UP', change: 'BUDGET_RECOVERED', since: at }
  const { burnSpeed, burningSince } = objective
  if (burnSpeed === null || burningSince === null) return null
  const message = `The error budget is used up too fast: ${speeds[burnSpeed]}.`
  return { kind: 'WRONG', change: 'BUDGET_BURNING', state: 'DEGRADED', since: burningSince, message }
}
