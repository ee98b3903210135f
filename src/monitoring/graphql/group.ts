import type { Monitor as MonitorRow } from '../../generated/prisma/client.ts'
import { MonitorState } from '../../generated/prisma/enums.ts'
import { batchPerOperation } from '../../graphql/execution/loader.ts'
import type { GroupMemberRow } from '../group/group-store.ts'
import { readGroupMembers } from '../group/group-store.ts'
import { builder } from './builder.ts'

/** Reads the members of a group. */
export const membersOf = batchPerOperation(
  async ({ db }, groups: readonly MonitorRow[]): Promise<readonly GroupMemberRow[][]> => {
    const members = await readGroupMembers({ db }, groups)
    return groups.map(({ id }) => members.get(id) ?? [])
  },
)

/** A member of a group. */
export const GroupMember = builder.objectRef<GroupMemberRow>('GroupMember').implement({
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
