import type { Context } from '../../core/context.ts'
import type { Prisma, ProbeResult } from '../../generated/prisma/client.ts'

type Db = Pick<Context, 'db'>

/** Returns the newest probe results of a monitor. */
export function readNewestResults({ db }: Db, monitorId: string, limit: number): Promise<ProbeResult[]> {
  return db.probeResult.findMany({
    where: { monitorId },
    orderBy: [{ at: 'desc' }, { region: 'asc' }],
    take: limit,
  })
}

/** Returns the rows to page through: a monitor's probe results. */
export function pageableResults({ db }: Db, monitorId: string) {
  return {
    where: { monitorId },
    read: (slice: Prisma.ProbeResultFindManyArgs): Promise<ProbeResult[]> => db.probeResult.findMany(slice),
    count: (query: Prisma.ProbeResultCountArgs) => db.probeResult.count({ where: query.where, take: query.take }),
  }
}
