import { createPageGuard } from '../../src/account/page/page-guard.ts'
import type { Clock } from '../../src/core/time.ts'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'
import type { Site } from '../../src/http/page/layout.tsx'
import { createPageCache } from '../../src/status-page/page-cache.ts'
import { seal } from '../monitoring/setup.ts'
import { silent } from './scratch.ts'

/** Returns a guard of pages that hears of no revoked credential. */
export const pageGuardOf = (db: PrismaClient, now: Clock) =>
  createPageGuard({ db, now, log: silent, seal, hold: () => () => {} })

/** Returns the source of status pages with caches of its own, which hear of no event. */
export const pageSourceOf = (site: Site, db: PrismaClient, now: Clock) => ({
  site,
  guard: pageGuardOf(db, now),
  db,
  cache: createPageCache(now),
  now,
})
