import type { Context } from '../../core/context.ts'
import { earliestOf } from '../../database/lease/agenda.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { Tier } from '../../generated/prisma/enums.ts'
import { announceKeys } from '../api-key/api-key.ts'

type Db = Pick<Context, 'db'>

/** Sets the minimum tier of an organization; null: the default. The caller computes its tier again. */
export function writeTierFloor({ db }: Db, id: string, tierFloor: Tier | null): Promise<Organization> {
  return db.organization.update({ where: { id }, data: { tierFloor, version: { increment: 1 } } })
}

/** Sets the tier of an organization. */
export function writeTier({ db }: Db, id: string, tier: Tier): Promise<Organization> {
  return db.organization.update({ where: { id }, data: { tier } })
}

/**
 * Gives an organization the paid check plan until a time, within the transaction of a change, and announces it to the
 * instances that remember its keys. @param reminderAt when the next reminder of its end is due; null: none.
 */
export async function writeCheckPlanEnd({ db }: Db, id: string, until: Date, reminderAt: Date | null): Promise<void> {
  const data = { checkPlan: 'PRO', checkPlanUntil: until, checkPlanReminderAt: reminderAt } as const
  await db.organization.update({ where: { id }, data })
  await announceKeys(db, id)
}

/** The due reminders of ending check plans, as a lease. */
export const checkPlanReminders = {
  table: 'Organization',
  dueColumn: 'checkPlanReminderAt',
  where: Prisma.sql`"deletedAt" IS NULL`,
} as const

/** Selects when the next reminder is due. */
export const EARLIEST_REMINDER = earliestOf(
  checkPlanReminders.table,
  checkPlanReminders.where,
  checkPlanReminders.dueColumn,
)

/** Returns an organization whose reminder has this lease; null: it was rescheduled in the meantime. */
export function organizationToRemind({ db }: Db, id: string, lease: Date): Promise<Organization | null> {
  return db.organization.findFirst({ where: { id, checkPlanReminderAt: lease } })
}

/** Sets when the next reminder is due, unless it was rescheduled since the lease; null: none. */
export async function scheduleReminder({ db }: Db, id: string, lease: Date, next: Date | null): Promise<void> {
  await db.organization.updateMany({ where: { id, checkPlanReminderAt: lease }, data: { checkPlanReminderAt: next } })
}
