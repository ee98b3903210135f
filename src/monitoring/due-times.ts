import type { DueTimes } from '../database/lease/set-back.ts'
import { Prisma } from '../generated/prisma/client.ts'

/**
 * The due times that move when the clock was set back: whoever does the work finds out again whether it is due. Not
 * those of heartbeats, which would count as missed; `schedule/reconcile-watches.ts` corrects them.
 */
export const monitoringDueTimes: readonly DueTimes[] = [
  {
    table: 'Watch',
    dueColumn: 'dueAt',
    where: Prisma.sql`"monitorId" NOT IN (SELECT id FROM "Monitor" WHERE kind = 'HEARTBEAT')`,
  },
  { table: 'Objective', dueColumn: 'dueAt' },
]
