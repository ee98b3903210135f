import { organizations } from '../../account/views.ts'
import type { Database } from '../../core/context.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { members } from '../../people/views.ts'

/** Selects the organizations that are not dispatched although browsers of members want notifications. */
export const UNFOLLOWED = Prisma.sql`
  SELECT DISTINCT organization.id AS "organizationId", organization."lastSeq" AS seq FROM "PushBrowser" AS browser
  JOIN ${members} AS member ON member."userId" = browser."userId"
  JOIN ${organizations} AS organization ON organization.id = member."organizationId"
  WHERE NOT EXISTS (SELECT 1 FROM "Dispatch" AS position WHERE position."organizationId" = organization.id)`

/** Starts to dispatch these organizations. */
export async function followOrganizations(db: Database): Promise<void> {
  await db.$executeRaw`INSERT INTO "Dispatch" ("organizationId", seq) ${UNFOLLOWED} ON CONFLICT DO NOTHING`
}
