import { ofLiving } from '../account/deletion.ts'
import type { Context } from '../context.ts'
import { MINUTE } from '../time.ts'
import { settle } from './settle.ts'
import { isAnyoneWatching } from './watch.ts'

/** How many monitors of an organization are settled in one transaction. */
const TOGETHER = 50

/**
 * Finds the monitors of which nothing is known any more, or something again, and tells so. It needs no worker: every process
 * does it, those that only serve too, for somebody has to say that nobody watches.
 */
export async function tellSilence(ctx: Context): Promise<void> {
  for (const [organizationId, ids] of await readChanged(ctx)) {
    for (let index = 0; index < ids.length; index += TOGETHER) {
      await settle(ctx, organizationId, ids.slice(index, index + TOGETHER))
    }
  }
}

/** The monitors, by their organization, whose silence may have begun or ended; `settle` knows it exactly. */
async function readChanged({ db, now }: Context): Promise<Map<string, string[]>> {
  const at = now()
  // No allowance is shorter; without workers it is the interval alone.
  const slackMs = (await isAnyoneWatching(db, at)) ? MINUTE : 0
  const rows = await db.$queryRaw<{ id: string; organizationId: string }[]>`
    SELECT m.id, m."organizationId" FROM "Monitor" m
    LEFT JOIN "Watch" w ON w."monitorId" = m.id AND w."lastKnownAt" >= coalesce(m."unknownSince",
      ${at}::timestamptz - m."intervalSeconds" * interval '1 second' - ${slackMs}::float8 * interval '1 millisecond')
    WHERE m."pausedBy" IS NULL AND m.${ofLiving}
    GROUP BY m.id
    HAVING (count(w.id) >= coalesce(m.agreement, 1)) = (m."unknownSince" IS NOT NULL)`
  const changed = new Map<string, string[]>()
  for (const { id, organizationId } of rows) {
    const ids = changed.get(organizationId)
    if (ids) ids.push(id)
    else changed.set(organizationId, [id])
  }
  return changed
}
