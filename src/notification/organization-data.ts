import type { OrganizationData } from '../account/organization/organization-data.ts'
import type { Database } from '../core/context.ts'
import type { Organization } from '../generated/prisma/client.ts'

/** What becomes of notifications when their organization is deleted or restored: nothing from before is sent. */
export const notificationData: OrganizationData = {
  stop: stopNotifying,
  resume: stopNotifying,
  erased: [{ table: 'Delivery' }, { table: 'NotificationPayload' }, { table: 'Subscriber' }, { table: 'Suppression' }],
}

/**
 * Skips undispatched events and cancels pending deliveries. Does not wait for locked deliveries: they are not sent, because their
 * organization is deleted.
 */
async function stopNotifying(db: Database, { id, lastSeq }: Organization, at: Date): Promise<void> {
  await db.dispatch.updateMany({ where: { organizationId: id }, data: { seq: lastSeq } })
  await db.$executeRaw`
    UPDATE "Delivery" SET status = 'CANCELLED', "dueAt" = NULL, "endedAt" = ${at}
    WHERE id IN (
      SELECT id FROM "Delivery" WHERE "organizationId" = ${id} AND status = 'PENDING' FOR UPDATE SKIP LOCKED)`
}
