import { Conflict } from '../errors.ts'
import type { Maintenance } from '../generated/prisma/client.ts'
import type { MaintenanceStatus } from '../generated/prisma/enums.ts'
import { invalid } from '../validate.ts'

/** How far a maintenance has come, and when it starts and ends: what was planned, or what really was. */
export type Plan = Pick<Maintenance, 'status' | 'startsAt' | 'endsAt'>

/** When a maintenance did run, which no later change of its plan alters. */
export type Run = Pick<Maintenance, 'startedAt' | 'endedAt'>

const nextSteps: Readonly<Record<MaintenanceStatus, readonly MaintenanceStatus[]>> = {
  SCHEDULED: ['IN_PROGRESS', 'CANCELLED'],
  IN_PROGRESS: ['VERIFYING', 'COMPLETED', 'CANCELLED'],
  VERIFYING: ['IN_PROGRESS', 'COMPLETED', 'CANCELLED'],
  COMPLETED: [],
  CANCELLED: [],
}

/**
 * The plan after a step to another status; one that starts or ends before its time does so now.
 * @throws Conflict when its status does not allow the step.
 */
export function step({ status, startsAt, endsAt }: Plan, to: MaintenanceStatus, now: Date): Plan {
  if (!nextSteps[status].includes(to)) throw new Conflict(`The maintenance is ${status}; it cannot become ${to}.`)
  if (status === 'SCHEDULED')
    return to === 'IN_PROGRESS'
      ? { status: to, startsAt: earlier(startsAt, now), endsAt }
      : { status: to, startsAt, endsAt }
  return { status: to, startsAt, endsAt: isOver(to) ? earlier(endsAt, now) : endsAt }
}

/**
 * The plan with other times; one whose new start has come starts.
 * @throws Invalid when the times make no sense. @throws Conflict when it is over.
 */
export function retime(plan: Plan, times: { startsAt?: Date | undefined; endsAt?: Date | undefined }, now: Date): Plan {
  const { startsAt = plan.startsAt, endsAt = plan.endsAt } = times
  if (times.startsAt === undefined && times.endsAt === undefined) return plan
  requireUnsettled(plan, 'times')
  requireTimes({ startsAt, endsAt }, now)
  if (plan.status !== 'SCHEDULED' && startsAt > now) {
    throw invalid([{ path: ['startsAt'], message: 'must not be in the future, for it has started' }])
  }
  return begun({ status: plan.status, startsAt, endsAt }, now)
}

/** @throws Conflict when a maintenance is over, for what it was like is known then. */
export function requireUnsettled({ status }: Pick<Plan, 'status'>, what: 'times' | 'services'): void {
  if (!isOver(status)) return
  throw new Conflict(`The maintenance is ${status}; its ${what} are settled.`)
}

/** Whether no step comes after a status. */
export function isOver(status: MaintenanceStatus): boolean {
  return nextSteps[status].length === 0
}

/** A new plan; one whose start has come starts at once. @throws Invalid when the times make no sense. */
export function planned(times: { readonly startsAt: Date; readonly endsAt: Date }, now: Date): Plan {
  requireTimes(times, now)
  return begun({ status: 'SCHEDULED', ...times }, now)
}

/** The step that time brings by itself, or null when none is due. */
export function stepDue(plan: Plan, now: Date): 'IN_PROGRESS' | 'COMPLETED' | null {
  const due = dueAt(plan)
  if (due === null || due > now) return null
  return plan.status === 'SCHEDULED' ? 'IN_PROGRESS' : 'COMPLETED'
}

/** When the next step comes by itself; null: never again. */
export function dueAt({ status, startsAt, endsAt }: Plan): Date | null {
  if (isOver(status)) return null
  return status === 'SCHEDULED' ? startsAt : endsAt
}

/** The run of a maintenance that has come to `status` at a moment: it starts and ends once. */
export function runAfter({ startedAt, endedAt }: Run, status: MaintenanceStatus, at: Date): Run {
  if (status === 'SCHEDULED') return { startedAt, endedAt }
  const over = isOver(status)
  const started = startedAt ?? (status === 'CANCELLED' ? null : at)
  return { startedAt: started, endedAt: over && started !== null ? (endedAt ?? at) : endedAt }
}

function begun(plan: Plan, now: Date): Plan {
  return plan.status === 'SCHEDULED' && plan.startsAt <= now ? { ...plan, status: 'IN_PROGRESS' } : plan
}

function requireTimes({ startsAt, endsAt }: { readonly startsAt: Date; readonly endsAt: Date }, now: Date): void {
  if (endsAt <= startsAt) throw invalid([{ path: ['endsAt'], message: 'must be after the start' }])
  if (endsAt <= now) throw invalid([{ path: ['endsAt'], message: 'must be in the future' }])
}

const earlier = (one: Date, other: Date) => (one < other ? one : other)
