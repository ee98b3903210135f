import type { Context } from '../../core/context.ts'

/** The work of the workers of a region. */
export interface RegionWork {
  /** The region; `*`: any region. */
  readonly region: string
  /** When its workers last reported; null: never. */
  readonly lastSeenAt: Date | null
  readonly watches: number
  readonly dueWatches: number
  /** When its first watch is due, which may be in the past; null: no watch has a due time. */
  readonly firstDueAt: Date | null
}

/** Returns the work of every region that has workers or watches, ordered by name. The caller checks permissions. */
export async function readRegionWork({ db, now }: Pick<Context, 'db' | 'now'>): Promise<RegionWork[]> {
  const [regions, watches] = await Promise.all([
    db.region.findMany(),
    db.$queryRaw<{ name: string; count: number; due: number; first: Date | null }[]>`
      SELECT region AS name, count(*)::int AS count,
        count(*) FILTER (WHERE "dueAt" < ${now()}::timestamptz)::int AS due, min("dueAt") AS first
      FROM "Watch" WHERE "dueAt" IS NOT NULL GROUP BY region`,
  ])
  const seen = new Map(regions.map(({ name, lastSeenAt }) => [name, lastSeenAt]))
  const work = new Map(watches.map((each) => [each.name, each]))
  return [...new Set([...seen.keys(), ...work.keys()])].sort().map((region) => {
    const { count = 0, due = 0, first = null } = work.get(region) ?? {}
    return { region, lastSeenAt: seen.get(region) ?? null, watches: count, dueWatches: due, firstDueAt: first }
  })
}
