import type { Database } from '../../core/context.ts'
import { batchPerOperation } from '../../graphql/execution/loader.ts'
import type { TimelineTable } from '../timeline/timeline-ends.ts'
import { readTimelineEnds } from '../timeline/timeline-ends.ts'

/** A request for the newest or oldest updates of one timeline. */
interface TimelineRequest {
  readonly parentId: string
  readonly take: number
  readonly newestFirst: boolean
  /** The Prisma `include` of each update. */
  readonly include: object
}

interface Identified {
  readonly id: string
}

/**
 * Creates a loader for the ends of many timelines, so that an operation on a hundred incidents needs one statement for
 * their updates.
 */
export function timelineLoader<Row extends Identified>(
  timeline: TimelineTable & {
    readonly read: (db: Database, ids: string[], include: object) => Promise<readonly Row[]>
  },
) {
  const { table, parent, read } = timeline
  return batchPerOperation(
    async ({ db }, requests: readonly TimelineRequest[]): Promise<readonly (readonly Row[])[]> => {
      const groups = new Map<string, TimelineRequest[]>()
      for (const each of requests) {
        const { parentId: _, ...options } = each
        const key = JSON.stringify(options)
        groups.set(key, [...(groups.get(key) ?? []), each])
      }
      const found = new Map<TimelineRequest, readonly Row[]>()
      for (const group of groups.values()) {
        const [{ take, newestFirst, include } = { take: 0, newestFirst: true, include: {} }] = group
        const parents = [...new Set(group.map(({ parentId }) => parentId))]
        const references = await readTimelineEnds(db, { table, parent }, parents, { take, newestFirst })
        const rows = await read(
          db,
          references.map(({ id }) => id),
          include,
        )
        const byId = new Map(rows.map((row) => [row.id, row]))
        for (const each of group) {
          found.set(
            each,
            references
              .filter((reference) => reference.parent === each.parentId)
              .flatMap(({ id }) => byId.get(id) ?? []),
          )
        }
      }
      return requests.map((each) => found.get(each) ?? [])
    },
  )
}
