import { lazily } from '../../core/lazily.ts'
import { truncate } from '../../core/truncate.ts'
import type { MonitorState } from '../../generated/prisma/enums.ts'
import type { GroupOptions } from './group.ts'
import { type GroupMember, neededOf } from './judge-group.ts'

const MAX_NAMED = 5
const MAX_LENGTH = 500
const listFormat = lazily(() => new Intl.ListFormat('en'))

type Named = Pick<GroupMember, 'name' | 'state' | 'unknownSince'>

/**
 * Returns why a group is DOWN or DEGRADED, such as `API and Shop are down.` or `1 of 3 monitors is up, 2 are needed:
 * API and Shop are down.`
 */
export function groupCause(
  members: readonly Named[],
  rule: Pick<GroupOptions, 'require' | 'count'>,
  state: MonitorState,
): string {
  const active = members.filter((member) => member.state !== 'PAUSED')
  const known = active.filter(({ unknownSince }) => unknownSince === null)
  const worst = known.filter((member) => member.state === state)
  const sentence = `${inWords(worst)} ${verb(worst)} ${state === 'DOWN' ? 'down' : 'degraded'}.`
  if (rule.require === 'ALL') return truncate(sentence, MAX_LENGTH)
  const up = known.filter((member) => member.state === 'UP' || (state === 'DOWN' && member.state === 'DEGRADED'))
  const needed = neededOf(rule, active.length)
  const count = `${up.length} of ${active.length} monitors ${up.length === 1 ? 'is' : 'are'} up`
  return truncate(`${count}, ${needed} ${needed === 1 ? 'is' : 'are'} needed: ${sentence}`, MAX_LENGTH)
}

/** Returns why the state of a group is unknown, such as `The state of API and Shop is unknown.` */
export function unknownGroupReason(members: readonly Named[]): string {
  const unknown = members.filter(
    ({ state, unknownSince }) => state !== 'PAUSED' && (unknownSince !== null || state === 'PENDING'),
  )
  if (unknown.length === 0) return 'None of its monitors is active.'
  return truncate(`The state of ${inWords(unknown)} is unknown.`, MAX_LENGTH)
}

const verb = (members: readonly Named[]) => (members.length === 1 ? 'is' : 'are')

function inWords(members: readonly Named[]): string {
  const names = members.slice(0, MAX_NAMED).map(({ name }) => name)
  const others = members.length - names.length
  return listFormat().format(others === 0 ? names : [...names, `${others} more`])
}
