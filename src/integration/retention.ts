import type { Context } from '../core/context.ts'
import type { CountDeleted } from '../core/deleted-rows.ts'
import { DELETE_BATCH, uncounted } from '../core/deleted-rows.ts'
import { DAY } from '../core/time.ts'

/** How long bodies and resolved groups are kept, and how many bodies per integration. */
const RETENTION = 7 * DAY
const MAX_KEPT = 1000
/** How many bytes of processed bodies are kept per integration, as stored; the newest is always kept. */
const MAX_KEPT_BYTES = 16 * 2 ** 20

/**
 * How many alerts of an integration are remembered. When an older one of them ends, its incident stays open: a sender with
 * so many is broken, and new alerts matter more.
 */
export const MAX_GROUPS = 10_000

/** Deletes the oldest processed bodies of an integration, beyond the number and the bytes that are kept. */
export async function deleteSurplusBodies({ db }: Pick<Context, 'db'>, integrationId: string): Promise<void> {
  await db.$executeRaw`
    DELETE FROM "IncomingBody" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM (
        SELECT ctid, row_number() OVER newest AS nth, sum(octet_length(body)) OVER newest AS bytes
        FROM "IncomingBody" WHERE "integrationId" = ${integrationId} AND status <> 'PENDING'
        WINDOW newest AS (ORDER BY position DESC)
      ) AS body WHERE nth > ${MAX_KEPT} OR (nth > 1 AND bytes > ${MAX_KEPT_BYTES}) LIMIT ${DELETE_BATCH}))`
}

/** Deletes a batch of old bodies and groups. Returns whether there may be more. */
export async function deleteOldBodies(
  { db, now }: Pick<Context, 'db' | 'now'>,
  count: CountDeleted = uncounted,
): Promise<boolean> {
  const before = new Date(now().getTime() - RETENTION)
  const bodies = await db.$executeRaw`
    DELETE FROM "IncomingBody" WHERE ctid = ANY (ARRAY(
      SELECT body.ctid FROM "Integration" AS integration, LATERAL (
        SELECT ctid, "receivedAt", row_number() OVER (ORDER BY position DESC) AS nth FROM "IncomingBody"
        WHERE "integrationId" = integration.id AND status <> 'PENDING'
      ) AS body WHERE body."receivedAt" < ${before} OR nth > ${MAX_KEPT} LIMIT ${DELETE_BATCH}))`
  const groups = await db.$executeRaw`
    DELETE FROM "IncomingGroup" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "IncomingGroup" WHERE "resolvedAt" < ${before} AND NOT "isFiring" LIMIT ${DELETE_BATCH}))`
  const surplus = await db.$executeRaw`
    DELETE FROM "IncomingGroup" WHERE ctid = ANY (ARRAY(
      SELECT surplus.ctid FROM "Integration" AS integration, LATERAL (
        SELECT ctid FROM "IncomingGroup" WHERE "integrationId" = integration.id
        ORDER BY "firedAt" DESC, "keyHash" OFFSET ${MAX_GROUPS}
      ) AS surplus LIMIT ${DELETE_BATCH}))`
  count('IncomingBody', bodies)
  count('IncomingGroup', groups + surplus)
  return Math.max(bodies, groups, surplus) >= DELETE_BATCH
}
