import { ofLiveOrganization, withTier } from '../../account/views.ts'
import type { Context } from '../../core/context.ts'
import { readGroupParts } from '../group/group-store.ts'
import type { GroupMember } from '../group/judge-group.ts'
import { hasLiveRegion } from '../watch/live-region.ts'
import { scheduleOf } from '../watch/staleness.ts'
import { parentsSelect, readParents } from './dependency-store.ts'
import type { JudgedMonitor, MonitorEvidence } from './judge-evidence.ts'
import { judgeEvidence } from './judge-evidence.ts'

/** Monitors whose evidence was read from the database. */
export interface ReadEvidence {
  /** The fields of group members that have changed since they were read, by id. */
  readonly changed: Map<string, Partial<GroupMember>>
  /** Judges some of the monitors. @param earliest when the member lists of groups changed; absent: they did not. */
  judge(ids: readonly string[], earliest?: Date): JudgedMonitor[]
}

/** Reads everything that determines the states of the active monitors among the ids. */
export async function readEvidence(
  { db, now }: Pick<Context, 'db' | 'now'>,
  ids: readonly string[],
): Promise<ReadEvidence> {
  const found = await db.monitor.findMany({
    where: { id: { in: [...ids] }, pausedBy: null, ...ofLiveOrganization },
    include: { watches: true, ...withTier, dependencies: parentsSelect },
    orderBy: { id: 'asc' },
  })
  const at = now()
  const hasWorker = await hasLiveRegion(db, at)
  const groups = await readGroupParts(
    { db },
    found.filter(({ kind }) => kind === 'GROUP'),
  )
  const parentsOf = await readParents(
    { db },
    found.map((monitor) => ({ ...monitor, parents: monitor.dependencies.map(({ parent }) => parent) })),
  )
  const changed: ReadEvidence['changed'] = new Map()
  const groupOf = (id: string) => {
    const parts = groups.get(id)
    return parts ? { ...parts, members: parts.members.map((each) => ({ ...each, ...changed.get(each.id) })) } : null
  }
  const evidenceOf = ({
    watches,
    organization,
    dependencies: _,
    ...monitor
  }: (typeof found)[number]): MonitorEvidence => ({
    monitor,
    watches,
    schedule: scheduleOf(monitor, organization.tier),
    parents: parentsOf.get(monitor.id) ?? [],
    group: groupOf(monitor.id),
  })
  return {
    changed,
    judge(some, earliest) {
      const wanted = new Set(some)
      const chosen = found.filter(({ id }) => wanted.has(id))
      return chosen.map((each) => judgeEvidence(evidenceOf(each), { at, hasWorker, earliest }))
    },
  }
}
