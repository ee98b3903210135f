import type { Context } from '../../core/context.ts'
import { MINUTE, SECOND } from '../../core/time.ts'
import { Prisma } from '../../generated/prisma/client.ts'

// Results are announced only while somebody follows their monitor, because a notification makes all commits of the
// server wait for each other.

/** How long a monitor counts as followed without renewal, and how often it is renewed, in milliseconds. */
const LIFETIME_MS = 2 * MINUTE
export const RENEWAL_MS = 30 * SECOND

/** Records that somebody follows monitors for now, and forgets those that nobody follows anymore. */
export async function noteFollowed({ db }: Pick<Context, 'db'>, monitorIds: readonly string[]): Promise<void> {
  await db.$executeRaw`
    WITH over AS (DELETE FROM "FollowedMonitor" WHERE until <= now() AND "monitorId" <> ALL (${monitorIds}::text[]))
    INSERT INTO "FollowedMonitor" ("monitorId", until)
    SELECT id, now() + ${LIFETIME_MS}::float8 * interval '1 millisecond' FROM "Monitor" WHERE id = ANY (${monitorIds}::text[])
    ORDER BY id ON CONFLICT ("monitorId") DO UPDATE SET until = EXCLUDED.until`
}

/** The monitors that somebody follows, as a table. */
export const followedMonitors = Prisma.sql`(SELECT "monitorId" FROM "FollowedMonitor" WHERE until > now())`
