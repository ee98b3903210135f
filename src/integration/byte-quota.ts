import { consumeMany } from '../account/quota.ts'
import type { Context } from '../core/context.ts'
import { RateLimited } from '../core/errors.ts'
import type { LruMap } from '../core/lru-map.ts'
import { createLruMap } from '../core/lru-map.ts'
import { nextUtcDay, utcDay } from '../core/time.ts'
import type { Integration } from '../generated/prisma/client.ts'

const MEBIBYTE = 2 ** 20

/**
 * How many bytes of bodies an organization, and one of its integrations, receives in a UTC day: 30,000 alerts of 2 kB
 * for one integration, which takes at most half of what its organization has.
 */
export const BYTES_PER_DAY = { organization: 128 * MEBIBYTE, integration: 64 * MEBIBYTE } as const
/** How many bytes a process takes from the quotas in the database at once, so that small bodies cost no statement. */
const TAKEN_AT_ONCE = MEBIBYTE

/** The maximum number of remembered integrations; beyond it, the least recently used one takes anew. */
const MAX_INTEGRATIONS = 10_000

/** The bytes that this process has taken and not used, by integration and day. */
export type TakenBytes = LruMap<number>

/** Creates the memory of this process. */
export const createTakenBytes = (): TakenBytes => createLruMap(MAX_INTEGRATIONS)

/** Counts the bytes of a body that an integration has received. @throws RateLimited when the day's are used up. */
export async function countBytes(
  ctx: Pick<Context, 'db' | 'now'>,
  taken: TakenBytes,
  { id, organizationId }: Pick<Integration, 'id' | 'organizationId'>,
  bytes: number,
): Promise<void> {
  const now = ctx.now()
  const day = utcDay(now)
  const key = `${id} ${day.getTime()}`
  const left = taken.get(key) ?? 0
  if (bytes > left) {
    const amount = Math.max(bytes, TAKEN_AT_ONCE)
    const quotas = [
      [`incoming bytes ${id}`, BYTES_PER_DAY.integration],
      [`incoming bytes ${organizationId}`, BYTES_PER_DAY.organization],
    ] as const
    for (const [subject, limit] of quotas)
      if (!(await consumeMany(ctx, subject, day, { amount, limit }))) throw usedUp(limit, nextUtcDay(now))
    // Others may have taken or used some in the meantime.
    taken.set(key, (taken.get(key) ?? 0) + amount)
  }
  taken.set(key, (taken.get(key) ?? 0) - bytes)
}

function usedUp(limit: number, retryAt: Date): RateLimited {
  const whose = limit === BYTES_PER_DAY.integration ? 'This integration' : 'This organization’s integrations'
  return new RateLimited(`${whose} can receive ${limit / MEBIBYTE} MiB in a UTC day.`, retryAt)
}
