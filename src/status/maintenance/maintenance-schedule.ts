import { Conflict } from '../../core/errors.ts'
import { invalid } from '../../core/validation.ts'
import type { Maintenance } from '../../generated/prisma/client.ts'
import type { MaintenanceStatus } from '../../generated/prisma/enums.ts'

/** The status of a maintenance, and its planned start and end, or the actual ones if earlier. */
export type Plan = Pick<Maintenance, 'status' | 'startsAt' | 'endsAt'>

/** When a maintenance actually ran. Later changes of its plan do not alter it. */
export type Run = Pick<Maintenance, 'startedAt' | 'endedAt'>

const transitions: Readonly<Record<MaintenanceStatus, readonly MaintenanceStatus[]>> = {
  SCHEDULED: ['IN_PROGRESS', 'CANCELLED'],
  IN_PROGRESS: ['VERIFYING', 'COMPLETED', 'CANCELLED'],
  VERIFYING: ['IN_PROGRESS', 'COMPLETED', 'CANCELLED'],
  COMPLETED: [],
  CANCELLED: [],
}

/**
 * Returns the plan after a transition. Starting or ending early moves the start or the end to now.
 * @throws Conflict if the status does not allow the transition.
 */
export function transition({ status, startsAt, endsAt }: Plan, to: MaintenanceStatus, now: Date): Plan {
  if (!transitions[status].includes(to)) throw new Conflict(`The maintenance is ${status}; it cannot become ${to}.`)
  if (status === 'SCHEDULED')
    return to === 'IN_PROGRESS'
      ? { status: to, startsAt: earlier(startsAt, now), endsAt }
      : { status: to, startsAt, endsAt }
  return { status: to, startsAt, endsAt: isOver(to) ? earlier(endsAt, now) : endsAt }
}

/**
 * Returns the plan with new times, started if the new start has passed.
 * @throws Invalid for inconsistent times.
 * @throws Conflict if the maintenance is over.
 */
export function reschedule(
  plan: Plan,
  times: { startsAt?: Date | undefined; endsAt?: Date | undefined },
  now: Date,
): Plan {
  const { startsAt = plan.startsAt, endsAt = plan.endsAt } = times
  if (times.startsAt === undefined && times.endsAt === undefined) return plan
  requireNotOver(plan, 'times')
  requireTimes({ startsAt, endsAt }, now)
  if (plan.status !== 'SCHEDULED' && startsAt > now) {
    throw invalid([{ path: ['startsAt'], message: 'must not be in the future, because the maintenance has started' }])
  }
  return startIfDue({ status: plan.status, startsAt, endsAt }, now)
}

/** @throws Conflict if a maintenance is over, because its times and services are then final. */
export function requireNotOver({ status }: Pick<Plan, 'status'>, what: 'times' | 'services'): void {
  if (!isOver(status)) return
  throw new Conflict(`The maintenance is ${status}; its ${what} can no longer be changed.`)
}

/** Returns the statuses that may follow a status. */
export function allowedTransitions(status: MaintenanceStatus): readonly MaintenanceStatus[] {
  return transitions[status]
}

/** Returns whether a status is final. */
export function isOver(status: MaintenanceStatus): boolean {
  return transitions[status].length === 0
}

/** Returns a new plan, started if its start has passed. @throws Invalid for inconsistent times. */
export function createPlan(times: { readonly startsAt: Date; readonly endsAt: Date }, now: Date): Plan {
  requireTimes(times, now)
  return startIfDue({ status: 'SCHEDULED', ...times }, now)
}

/** Returns the automatic transition that is due, or null. */
export function dueTransition(plan: Plan, now: Date): 'IN_PROGRESS' | 'COMPLETED' | null {
  const due = dueAt(plan)
  if (due === null || due > now) return null
  return plan.status === 'SCHEDULED' ? 'IN_PROGRESS' : 'COMPLETED'
}

/** Returns when the next automatic transition is due, or null. */
export function dueAt({ status, startsAt, endsAt }: Plan): Date | null {
  if (isOver(status)) return null
  return status === 'SCHEDULED' ? startsAt : endsAt
}

/** Returns the run after the maintenance enters `status` at `at`. A run starts and ends only once. */
export function recordRun({ startedAt, endedAt }: Run, status: MaintenanceStatus, at: Date): Run {
  if (status === 'SCHEDULED') return { startedAt, endedAt }
  const over = isOver(status)
  const started = startedAt ?? (status === 'CANCELLED' ? null : at)
  return { startedAt: started, endedAt: over && started !== null ? (endedAt ?? at) : endedAt }
}

function startIfDue(plan: Plan, now: Date): Plan {
  return plan.status === 'SCHEDULED' && plan.startsAt <= now ? { ...plan, status: 'IN_PROGRESS' } : plan
}

function requireTimes({ startsAt, endsAt }: { readonly startsAt: Date; readonly endsAt: Date }, now: Date): void {
  if (endsAt <= startsAt) throw invalid([{ path: ['endsAt'], message: 'must be after the start' }])
  if (endsAt <= now) throw invalid([{ path: ['endsAt'], message: 'must be in the future' }])
}

const earlier = (one: Date, other: Date) => (one < other ? one : other)
