import { createPageGuard } from '../../src/account/page/page-guard.ts'
import type { Clock } from '../../src/core/time.ts'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'
import { seal } from '../monitoring/setup.ts'
import { silent } from './scratch.ts'

/** Returns a guard of pages that hears of no revoked credential. */
export const pageGuardOf = (db: PrismaClient, now: Clock) =>
  createPageGuard({ db, now, log: silent, seal, hold: () => () => {} })
