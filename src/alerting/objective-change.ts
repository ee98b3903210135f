import type { Context } from '../core/context.ts'
import type { Event } from '../generated/prisma/client.ts'
import type { BurnSpeed } from '../generated/prisma/enums.ts'
import type { SubjectChange } from './subject-change.ts'

const speeds = {
  FAST: 'fast, as seen over an hour',
  SLOW: 'as seen over 6 hours',
  STEADY: 'as seen over 3 days',
} as const satisfies Record<BurnSpeed, string>

/** Returns how an event changes the alert of its objective, or null if a later event decides. */
export async function objectiveChangeOf(
  { db }: Pick<Context, 'db'>,
  { kind, subjectId, organizationId, at }: Event,
): Promise<SubjectChange | null> {
  const objective = await db.objective.findUnique({ where: { id: subjectId, organizationId } })
  if (objective === null) return { kind: 'CLOSED', state: 'PAUSED', message: 'The objective was deleted.' }
  if (kind === 'OBJECTIVE_RECOVERED') return { kind: 'RECOVERED', change: 'BUDGET_RECOVERED', since: at }
  const { burnSpeed, burningSince } = objective
  if (burnSpeed === null || burningSince === null) return null
  const message = `The error budget is used up too fast: ${speeds[burnSpeed]}.`
  return { kind: 'FAILING', change: 'BUDGET_BURNING', state: 'DEGRADED', since: burningSince, message }
}
