import type { Clock } from '../../src/core/time.ts'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'
import { createPageCache } from '../../src/status-page/page-cache.ts'
import type { StateSource } from '../../src/status-page/shared-state.ts'

/** A source of page states without a cache. */
export const uncached = (db: PrismaClient, now: Clock): StateSource => ({ db, cache: createPageCache(now), now })
