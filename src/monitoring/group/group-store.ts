import type { Context } from '../../core/context.ts'
import { typeOfId } from '../../core/id.ts'
import { invalid } from '../../core/validation.ts'
import type { Monitor } from '../../generated/prisma/client.ts'
import { notFound, requireDistinct } from '../../status/ownership.ts'
import type { GroupOptions } from './group.ts'
import { group } from './group.ts'
import type { GroupRow } from './group-graph.ts'
import type { GroupMember } from './judge-group.ts'
import { MAX_GROUPS } from './limits.ts'
import { requireNoCycle } from './monitor-cycle.ts'

type Db = Pick<Context, 'db'>
type Stored = Pick<Monitor, 'id' | 'organizationId' | 'options' | 'unknownSince'>

/** Reads a group's stored options. */
export const groupOptionsOf = ({ options }: Pick<Monitor, 'options'>): GroupOptions => group.options.parse(options)

/** Reads the groups of an organization. */
export function readGroups({ db }: Db, organizationId: string): Promise<GroupRow[]> {
  return db.$queryRaw<GroupRow[]>`
    SELECT id, ARRAY(SELECT jsonb_array_elements_text(options -> 'monitorIds')) AS "monitorIds"
    FROM "Monitor" WHERE "organizationId" = ${organizationId} AND kind = 'GROUP' ORDER BY id`
}

/** A member of a group, for display. */
export type GroupMemberRow = Pick<Monitor, 'id' | 'name' | 'state' | 'stateSince' | 'unknownSince'>

/** Reads the members of groups in their order, by group id. Uses one statement. */
export async function readGroupMembers(
  { db }: Db,
  groups: readonly Pick<Monitor, 'id' | 'organizationId' | 'options'>[],
): Promise<Map<string, GroupMemberRow[]>> {
  if (groups.length === 0) return new Map()
  const idsOf = new Map(groups.map((each) => [each.id, groupOptionsOf(each).monitorIds]))
  const rows = await db.monitor.findMany({
    where: {
      id: { in: [...new Set([...idsOf.values()].flat())] },
      organizationId: { in: [...new Set(groups.map(({ organizationId }) => organizationId))] },
    },
    select: { ...{ id: true, organizationId: true, name: true }, state: true, stateSince: true, unknownSince: true },
  })
  const byId = new Map(rows.map((row) => [row.id, row]))
  return new Map(
    groups.map(({ id, organizationId }) => {
      const members = idsOf.get(id)?.flatMap((each) => byId.get(each) ?? []) ?? []
      return [id, members.filter((member) => member.organizationId === organizationId)]
    }),
  )
}

/** The data from which `judgeGroup` derives the state of a group. */
export interface GroupParts {
  readonly members: readonly GroupMember[]
  /** When the group was created, was last resumed, or last had no active member, whichever is the latest. */
  readonly begunAt: Date
}

/** Reads the parts of groups, by group id. Uses at most three statements. */
export async function readGroupParts({ db }: Db, groups: readonly Stored[]): Promise<Map<string, GroupParts>> {
  if (groups.length === 0) return new Map()
  const members = await readGroupMembers({ db }, groups)
  const begun = await db.monitorInterval.groupBy({
    by: ['monitorId'],
    where: { monitorId: { in: groups.map(({ id }) => id) }, state: { in: ['PENDING', 'PAUSED'] } },
    _max: { startedAt: true, endedAt: true },
  })
  const begunAt = new Map(begun.map(({ monitorId, _max }) => [monitorId, latest(_max.startedAt, _max.endedAt)]))
  const gapEnds = await readGapEnds({ db }, groups, members)
  return new Map(
    groups.map(({ id }) => {
      const own = members.get(id) ?? []
      const parts = own.map((member) => ({ ...member, knownSince: gapEnds.get(member.id) ?? null }))
      return [id, { members: parts, begunAt: begunAt.get(id) ?? new Date(0) }]
    }),
  )
}

/** Reads when the members of unknown groups last became known again, by member id. */
async function readGapEnds(
  { db }: Db,
  groups: readonly Stored[],
  members: ReadonlyMap<string, readonly GroupMemberRow[]>,
): Promise<Map<string, Date | null>> {
  const unknown = groups.flatMap(({ id, unknownSince }) => (unknownSince === null ? [] : [{ id, unknownSince }]))
  if (unknown.length === 0) return new Map()
  const ids = unknown.flatMap(({ id }) => members.get(id)?.map((member) => member.id) ?? [])
  const gaps = await db.monitorGap.groupBy({
    by: ['monitorId'],
    where: {
      monitorId: { in: [...new Set(ids)] },
      endedAt: { gte: new Date(Math.min(...unknown.map(({ unknownSince }) => Number(unknownSince)))) },
    },
    _max: { endedAt: true },
  })
  return new Map(gaps.map(({ monitorId, _max }) => [monitorId, _max.endedAt]))
}

const latest = (...times: readonly (Date | null)[]) => new Date(Math.max(0, ...times.map(Number)))

/**
 * Validates the members of a new or changed group, in the transaction of a change.
 * @param id the id of the group; null: the group is new.
 * @param added the number of groups that are created together.
 * @throws NotFound for unknown monitors, and Invalid for duplicates, cycles and too many groups.
 */
export async function requireGroupMembers(
  { db }: Db,
  { id, organizationId }: { readonly id: string | null; readonly organizationId: string },
  { monitorIds }: GroupOptions,
  added = 1,
): Promise<void> {
  requireDistinct(monitorIds, (index) => ['group', 'monitorIds', index])
  if (id === null) await requireRoom({ db }, organizationId, added)
  const isValid = monitorIds.every((each) => typeOfId(each) === 'Monitor')
  const own = isValid ? await db.monitor.count({ where: { organizationId, id: { in: [...monitorIds] } } }) : 0
  if (own !== monitorIds.length) throw notFound('Monitor')
  if (id !== null) await requireNoCycle({ db }, { id, organizationId }, monitorIds, ['group', 'monitorIds'])
}

async function requireRoom({ db }: Db, organizationId: string, added: number): Promise<void> {
  const count = await db.monitor.count({ where: { organizationId, kind: 'GROUP' } })
  if (count + added <= MAX_GROUPS) return
  throw invalid([
    { path: ['group'], message: `is one too many: an organization can have at most ${MAX_GROUPS} groups` },
  ])
}

/** Removes a monitor from its groups before it is deleted. Returns the changed groups. */
export function leaveGroups(
  { db }: Db,
  { id, organizationId }: Pick<Monitor, 'id' | 'organizationId'>,
): Promise<Pick<Monitor, 'id' | 'name'>[]> {
  return db.$queryRaw<Pick<Monitor, 'id' | 'name'>[]>`
    UPDATE "Monitor" SET version = version + 1,
      options = jsonb_set(options, '{monitorIds}', (options -> 'monitorIds') - ${id}::text)
    WHERE "organizationId" = ${organizationId} AND kind = 'GROUP' AND options -> 'monitorIds' @> to_jsonb(${id}::text)
    RETURNING id, name`
}
