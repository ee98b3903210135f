/** A group and the ids of its members. */
export interface GroupRow {
  readonly id: string
  readonly monitorIds: readonly string[]
}

/**
 * Returns the ids of the changed groups, and of all groups that contain changed monitors directly or through other
 * groups. They are ordered in levels: a group comes after all groups that it contains.
 */
export function levelsAbove(groups: readonly GroupRow[], changedIds: readonly string[]): string[][] {
  const above = groupsByMember(groups)
  const affected = new Set(groups.flatMap(({ id }) => (changedIds.includes(id) ? [id] : [])))
  const queue = [...changedIds]
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    for (const parent of above.get(id) ?? []) {
      if (affected.has(parent)) continue
      affected.add(parent)
      queue.push(parent)
    }
  }
  let left = groups.filter(({ id }) => affected.has(id))
  const levels: string[][] = []
  while (left.length > 0) {
    const waiting = new Set(left.map(({ id }) => id))
    const ready = left.filter(({ monitorIds }) => !monitorIds.some((each) => waiting.has(each)))
    // Stops at a cycle. Validation rejects cycles, but one in the database must not cause an endless loop.
    if (ready.length === 0) return levels
    levels.push(ready.map(({ id }) => id))
    left = left.filter((each) => !ready.includes(each))
  }
  return levels
}

function groupsByMember(groups: readonly GroupRow[]): Map<string, string[]> {
  const above = new Map<string, string[]>()
  for (const { id, monitorIds } of groups) {
    for (const member of monitorIds) {
      const known = above.get(member)
      if (known) known.push(id)
      else above.set(member, [id])
    }
  }
  return above
}

/** Returns the ids of the monitors that a group contains directly or through other groups, and that are not groups. */
export function leavesOf(groups: readonly GroupRow[], groupId: string): string[] {
  const byId = new Map(groups.map((group) => [group.id, group.monitorIds]))
  const leaves = new Set<string>()
  const seen = new Set<string>()
  const queue = [groupId]
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (seen.has(id)) continue
    seen.add(id)
    const members = byId.get(id)
    if (members) queue.push(...members)
    else leaves.add(id)
  }
  return [...leaves]
}
