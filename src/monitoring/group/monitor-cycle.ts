import type { Context } from '../../core/context.ts'
import { invalid } from '../../core/validation.ts'
import type { Monitor } from '../../generated/prisma/client.ts'

/**
 * Checks that the state of a monitor does not depend on itself, through dependencies or group members.
 * @param followedIds the ids of its new dependencies or members. @param path the path of these ids in the input.
 * @throws Invalid with an issue for each id whose monitor depends on this one.
 */
export async function requireNoCycle(
  { db }: Pick<Context, 'db'>,
  { id, organizationId }: Pick<Monitor, 'id' | 'organizationId'>,
  followedIds: readonly string[],
  path: readonly string[],
): Promise<void> {
  const found = await db.$queryRaw<{ id: string }[]>`
    WITH RECURSIVE edge AS (
      SELECT dependency."monitorId" AS id, dependency."parentId" AS followed
      FROM "MonitorDependency" AS dependency JOIN "Monitor" AS monitor ON monitor.id = dependency."monitorId"
      WHERE monitor."organizationId" = ${organizationId}
      UNION SELECT monitor.id, member.id
      FROM "Monitor" AS monitor, jsonb_array_elements_text(monitor.options -> 'monitorIds') AS member (id)
      WHERE monitor."organizationId" = ${organizationId} AND monitor.kind = 'GROUP'
    ), follower AS (
      SELECT ${id}::text AS id UNION SELECT edge.id FROM follower JOIN edge ON edge.followed = follower.id
    ) SELECT id FROM follower WHERE id = ANY(${[...followedIds]}::text[])`
  const followers = new Set(found.map((row) => row.id))
  const message = 'must not depend on this monitor'
  const issues = followedIds.flatMap((each, index) =>
    followers.has(each) ? [{ path: [...path, String(index)], message }] : [],
  )
  if (issues.length > 0) throw invalid(issues)
}
