import type { Monitor as MonitorRow } from '../../generated/prisma/client.ts'
import { MonitorState } from '../../generated/prisma/enums.ts'
import { rows } from '../../graphql/document/cost.ts'
import { batchPerOperation } from '../../graphql/execution/loader.ts'
import type { GroupMemberRow } from '../group/group-store.ts'
import { groupOptionsOf, readGroupMembers } from '../group/group-store.ts'
import { MAX_GROUP_MEMBERS } from '../group/limits.ts'
import { builder } from './builder.ts'
import { GroupRequirement } from './option-enums.ts'

/** Reads the members of a group. */
export const membersOf = batchPerOperation(
  async ({ db }, groups: readonly MonitorRow[]): Promise<readonly GroupMemberRow[][]> => {
    const members = await readGroupMembers({ db }, groups)
    return groups.map(({ id }) => members.get(id) ?? [])
  },
)

const GroupMember = builder.objectRef<GroupMemberRow>('GroupMember').implement({
  description: 'A member of a group.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The monitor’s id.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    state: t.expose('state', { type: MonitorState, description: 'Its state. A paused monitor does not count.' }),
    unknownSince: t.expose('unknownSince', {
      type: 'DateTime',
      nullable: true,
      description: 'When its state became unknown. Null: it is known.',
    }),
  }),
})

export const GroupOptions = builder.objectRef<MonitorRow>('GroupOptions').implement({
  description: 'The members of a group, and how many of them must be up.',
  fields: (t) => ({
    monitorIds: t.idList({
      description: 'The ids of its members.',
      resolve: (monitor) => groupOptionsOf(monitor).monitorIds,
    }),
    members: t.field({
      type: [GroupMember],
      extensions: rows(MAX_GROUP_MEMBERS),
      description: 'Its members, in the same order.',
      resolve: (monitor, _args, ctx) => membersOf(ctx, monitor),
    }),
    require: t.field({
      type: GroupRequirement,
      description: 'How many of them must be up.',
      resolve: (monitor) => groupOptionsOf(monitor).require,
    }),
    count: t.int({
      nullable: true,
      description: 'How many must be up, for AT_LEAST. Null: another requirement.',
      resolve: (monitor) => groupOptionsOf(monitor).count ?? null,
    }),
  }),
})
