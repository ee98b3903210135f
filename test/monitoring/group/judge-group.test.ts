import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SECOND } from '../../../src/core/time.ts'
import type { MonitorState } from '../../../src/generated/prisma/enums.ts'
import { type GroupOptions, group as rules } from '../../../src/monitoring/group/group.ts'
import { groupCause, unknownGroupReason } from '../../../src/monitoring/group/group-cause.ts'
import { leavesOf, levelsAbove } from '../../../src/monitoring/group/group-graph.ts'
import { type GroupMember, type GroupVerdict, judgeGroup } from '../../../src/monitoring/group/judge-group.ts'
import { noon } from '../../support/context.ts'
import { closed } from '../../support/private-targets.ts'
import { runs } from '../../support/runs.ts'

const at = (seconds: number) => new Date(noon.getTime() + seconds * SECOND)

/** The possible conditions of a member. UNKNOWN: it was UP before it became unknown. */
const conditions = ['UP', 'DEGRADED', 'DOWN', 'UNKNOWN', 'PENDING', 'PAUSED'] as const
type Condition = (typeof conditions)[number]

const member = (condition: Condition, since = 0, name = 'A'): GroupMember => ({
  id: `mon_${name}`,
  name,
  state: condition === 'UNKNOWN' ? 'UP' : condition,
  stateSince: at(condition === 'UNKNOWN' ? -100 : since),
  unknownSince: condition === 'UNKNOWN' ? at(since) : null,
  knownSince: null,
})

const standing = { state: 'UP' as MonitorState, stateSince: at(-50), unknownSince: null, earliest: at(-90) }

/** A reference implementation: tries all states that members with an open state may have. */
function reference(all: readonly Condition[], { require, count = 1 }: Pick<GroupOptions, 'require' | 'count'>): string {
  const active = all.filter((each) => each !== 'PAUSED')
  if (active.length === 0) return 'EMPTY'
  const open = active.flatMap((each, index) => (each === 'UNKNOWN' || each === 'PENDING' ? [index] : []))
  const needed = { ALL: active.length, ANY: 1, AT_LEAST: Math.min(count, active.length) }[require]
  const states = new Set<string>()
  for (let choice = 0; choice < 2 ** open.length; choice++) {
    const one = active.map((each, index) => {
      const place = open.indexOf(index)
      return place < 0 ? each : choice & (1 << place) ? 'UP' : 'DOWN'
    })
    const has = (...wanted: string[]) => one.filter((each) => wanted.includes(each)).length >= needed
    states.add(has('UP') ? 'UP' : has('UP', 'DEGRADED') ? 'DEGRADED' : 'DOWN')
  }
  const [state = ''] = states
  if (states.size === 1) return state
  return active.includes('UNKNOWN') ? 'UNKNOWN' : 'PENDING'
}

/** Returns all lists of up to `length` conditions. */
function lists(length: number): Condition[][] {
  if (length === 0) return [[]]
  return [[], ...lists(length - 1).flatMap((list) => conditions.map((each) => [each, ...list]))]
}

const outcomeOf = (verdict: GroupVerdict) => (verdict.kind === 'KNOWN' ? verdict.state : verdict.kind)

/** Returns a member after a change. If it becomes unknown, it keeps its state, which started earlier. */
function changed(before: GroupMember, to: Condition, seconds: number): GroupMember {
  const { name, state } = before
  if (to !== 'UNKNOWN') return member(to, seconds, name)
  const isKnown = ['UP', 'DEGRADED', 'DOWN'].includes(state)
  return { ...(isKnown ? before : member('UP', seconds, name)), unknownSince: at(seconds) }
}

/** Applies a verdict to the group. A new state starts at the given time. */
function began<G extends { readonly state: MonitorState; readonly stateSince: Date }>(
  group: G,
  { state, since }: { readonly state: MonitorState; readonly since: Date },
  time: Date,
): G {
  expect(since).toEqual(state === group.state ? group.stateSince : time)
  return { ...group, state, stateSince: since }
}

describe('the state of a group', () => {
  test.each([
    // The members, and the state of the group with ALL, AT_LEAST 2 and ANY.
    ['UP UP UP', 'UP', 'UP', 'UP'],
    ['UP UP DOWN', 'DOWN', 'UP', 'UP'],
    ['UP DOWN DOWN', 'DOWN', 'DOWN', 'UP'],
    ['DOWN DOWN DOWN', 'DOWN', 'DOWN', 'DOWN'],
    ['UP UP DEGRADED', 'DEGRADED', 'UP', 'UP'],
    ['UP DEGRADED DOWN', 'DOWN', 'DEGRADED', 'UP'],
    ['DEGRADED DEGRADED DEGRADED', 'DEGRADED', 'DEGRADED', 'DEGRADED'],
    ['DEGRADED DOWN DOWN', 'DOWN', 'DOWN', 'DEGRADED'],
    ['UP UP UNKNOWN', 'UNKNOWN', 'UP', 'UP'],
    ['UP DOWN UNKNOWN', 'DOWN', 'UNKNOWN', 'UP'],
    ['DOWN DOWN UNKNOWN', 'DOWN', 'DOWN', 'UNKNOWN'],
    ['DEGRADED UNKNOWN UNKNOWN', 'UNKNOWN', 'UNKNOWN', 'UNKNOWN'],
    ['UNKNOWN UNKNOWN UNKNOWN', 'UNKNOWN', 'UNKNOWN', 'UNKNOWN'],
    ['UP UP PENDING', 'PENDING', 'UP', 'UP'],
    ['UP DOWN PENDING', 'DOWN', 'PENDING', 'UP'],
    ['DOWN PENDING UNKNOWN', 'DOWN', 'UNKNOWN', 'UNKNOWN'],
    ['PENDING PENDING PENDING', 'PENDING', 'PENDING', 'PENDING'],
    ['UP UP PAUSED', 'UP', 'UP', 'UP'],
    ['UP DOWN PAUSED', 'DOWN', 'DOWN', 'UP'],
    ['UP PAUSED PAUSED', 'UP', 'UP', 'UP'],
    ['DOWN PAUSED PAUSED', 'DOWN', 'DOWN', 'DOWN'],
    ['PAUSED PAUSED PAUSED', 'EMPTY', 'EMPTY', 'EMPTY'],
    ['', 'EMPTY', 'EMPTY', 'EMPTY'],
  ])('%s', (all, ...expected) => {
    const members = all.split(' ').filter(Boolean) as Condition[]
    const ways = [{ require: 'ALL' }, { require: 'AT_LEAST', count: 2 }, { require: 'ANY' }] as const
    const found = ways.map((rule) => {
      const verdict = judgeGroup(
        members.map((each) => member(each)),
        rule,
        standing,
        at(0),
      )
      return outcomeOf(verdict)
    })
    expect(found).toEqual(expected)
    expect(ways.map((rule) => reference(members, rule))).toEqual(expected)
  })

  test('equals the reference, which tries every state of unknown members', () => {
    const wrong: string[] = []
    for (const list of lists(4)) {
      const rulesOf = [1, 2, 3, 4, 5].map((count) => ({ require: 'AT_LEAST', count }) as const)
      for (const rule of [{ require: 'ALL' }, { require: 'ANY' }, ...rulesOf] as const) {
        const verdict = judgeGroup(
          list.map((each) => member(each)),
          rule,
          standing,
          at(0),
        )
        const found = outcomeOf(verdict)
        if (found !== reference(list, rule)) wrong.push(`${list} ${JSON.stringify(rule)}: ${found}`)
      }
    }
    expect(wrong).toEqual([])
  })

  const judged = (members: readonly GroupMember[], rule: Pick<GroupOptions, 'require' | 'count'>, given = {}) => {
    const verdict = judgeGroup(members, rule, { ...standing, ...given }, at(0))
    return 'since' in verdict ? (verdict.since.getTime() - noon.getTime()) / SECOND : verdict.kind
  }

  test.each([
    ['the first failure that decides', [member('DOWN', -30), member('DOWN', -10)], 'ALL', {}, -30],
    ['the last failure that decides', [member('DOWN', -30), member('DOWN', -10)], 'ANY', {}, -10],
    ['a failure that is found late', [member('DOWN', -70), member('UP', -99)], 'ALL', {}, -70],
    ['a failure before the group began', [member('DOWN', -500), member('UP', -99)], 'ALL', {}, -90],
    ['a recovery', [member('UP', -20), member('UP', -99)], 'ALL', { state: 'DOWN' }, -20],
    ['a recovery before the outage', [member('UP', -70), member('UP', -99)], 'ALL', { state: 'DOWN' }, -50],
    ['a pause that made a failure decide', [member('DOWN', -70), member('PAUSED', -40)], 'ANY', {}, -40],
    ['a time in the future, after the clock was set back', [member('DOWN', 60)], 'ALL', {}, 0],
    ['an unknown member', [member('UNKNOWN', -40), member('UP', -99)], 'ALL', {}, -40],
    ['an unknown member that decides later', [member('UNKNOWN', -40), member('DOWN', -20)], 'ANY', {}, -20],
    ['the second of two unknown members', [member('UNKNOWN', -40), member('UNKNOWN', -10)], 'ANY', {}, -10],
    ['an unknown member before the group’s state', [member('UNKNOWN', -80)], 'ALL', {}, -50],
    ['the pause of the last member', [member('PAUSED', -40), member('PAUSED', -20)], 'ALL', {}, -20],
    ['the deletion of the last member', [], 'ALL', {}, 0],
    ['an unchanged state', [member('UP', -10)], 'ALL', {}, -50],
  ] as const)('begins with %s', (_name, members, require, given, expected) => {
    expect(judged(members, { require }, given)).toBe(expected)
  })

  test('equals a naive reference at every moment of random histories, and starts at the same time', () => {
    const change = fc.record({ who: fc.nat(), to: fc.constantFrom(...conditions) })
    const rule = fc.oneof(
      fc.constantFrom({ require: 'ALL' as const }, { require: 'ANY' as const }),
      fc.integer({ min: 1, max: 8 }).map((count) => ({ require: 'AT_LEAST' as const, count })),
    )
    const history = fc.array(change, { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), rule, history, (size, given, changes) => {
        const members = Array.from({ length: size }, (_, index) => member('UP', 0, `${index}`))
        const now = Array.from({ length: size }, (): Condition => 'UP')
        let group = { ...standing, stateSince: at(0), earliest: at(0) }
        for (const [index, { who, to }] of changes.entries()) {
          const [place, seconds] = [who % size, index + 1]
          const before = members[place]
          if (before === undefined || now[place] === to) continue
          now[place] = to
          members[place] = changed(before, to, seconds)
          const verdict = judgeGroup(members, given, group, at(seconds))
          expect(outcomeOf(verdict)).toBe(reference(now, given))
          // A new state starts at the change that caused it; an unchanged state keeps its start.
          if (verdict.kind === 'KNOWN') group = began(group, verdict, at(seconds))
        }
      }),
      runs(300, 3000),
    )
  })

  test('is known again when the deciding members are known', () => {
    const again = (knownSince: number, condition: Condition = 'UP') => ({
      ...member(condition, -99),
      knownSince: at(knownSince),
    })
    const known = (members: readonly GroupMember[], require: 'ALL' | 'ANY') =>
      judgeGroup(members, { require }, { ...standing, unknownSince: at(-40) }, at(0))
    expect(known([again(-20), again(-10)], 'ALL')).toMatchObject({ knownSince: at(-10) })
    expect(known([again(-20), again(-10)], 'ANY')).toMatchObject({ knownSince: at(-20) })
    expect(known([again(-20, 'DOWN'), again(-10)], 'ALL')).toMatchObject({ state: 'DOWN', knownSince: at(-20) })
    expect(known([member('UP', -99)], 'ALL')).toMatchObject({ knownSince: at(-40) })
  })
})

describe('the message of a group', () => {
  const named = (...all: readonly Condition[]) => all.map((each, index) => member(each, 0, 'ABCDEFGH'[index]))

  test('names the members that are down or degraded', () => {
    const all = { require: 'ALL' } as const
    expect(groupCause(named('UP', 'DOWN'), all, 'DOWN')).toBe('B is down.')
    expect(groupCause(named('DOWN', 'DOWN', 'UP'), all, 'DOWN')).toBe('A and B are down.')
    expect(groupCause(named('UP', 'DEGRADED', 'UP'), all, 'DEGRADED')).toBe('B is degraded.')
    expect(groupCause(named(...Array.from({ length: 8 }, () => 'DOWN' as const)), all, 'DOWN')).toBe(
      'A, B, C, D, E, and 3 more are down.',
    )
    expect(groupCause(named('UP', 'DOWN', 'DOWN', 'PAUSED'), { require: 'AT_LEAST', count: 2 }, 'DOWN')).toBe(
      '1 of 3 monitors is up, 2 are needed: B and C are down.',
    )
    expect(groupCause(named('DOWN', 'DOWN'), { require: 'ANY' }, 'DOWN')).toBe(
      '0 of 2 monitors are up, 1 is needed: A and B are down.',
    )
  })

  test('names the members whose state is unknown', () => {
    expect(unknownGroupReason(named('UP', 'UNKNOWN', 'PENDING', 'PAUSED'))).toBe('The state of B and C is unknown.')
    expect(unknownGroupReason(named('PAUSED'))).toBe('None of its monitors is active.')
  })

  test('is short, even with many members', () => {
    const long = Array.from({ length: 9 }, () => ({ ...member('DOWN'), name: 'x'.repeat(100) }))
    expect(groupCause(long, { require: 'ANY' }, 'DOWN').length).toBeLessThanOrEqual(500)
  })
})

describe('the options of a group', () => {
  test.each([
    [{ monitorIds: ['mon_a'] }, null],
    [{ monitorIds: ['mon_a'], require: 'ANY' }, null],
    [{ monitorIds: ['mon_a', 'mon_b'], require: 'AT_LEAST', count: 2 }, null],
    [{ monitorIds: ['mon_a'], require: 'AT_LEAST' }, 'count'],
    [{ monitorIds: ['mon_a'], require: 'ALL', count: 1 }, 'count'],
    [{ monitorIds: ['mon_a'], require: 'AT_LEAST', count: 2 }, 'count'],
    [{ monitorIds: ['mon_a'], require: 'AT_LEAST', count: 0 }, 'count'],
    [{ monitorIds: [] }, 'monitorIds'],
    [{ monitorIds: Array.from({ length: 101 }, (_, n) => `mon_${n}`) }, 'monitorIds'],
    [{ monitorIds: [7] }, 'monitorIds'],
    [{ monitorIds: ['mon_a'], require: 'SOME' }, 'require'],
    [{}, 'monitorIds'],
  ])('%j', (given, wrong) => {
    const read = rules.options.safeParse(given)
    const issues = read.success ? (rules.refusals?.(read.data, closed) ?? []) : read.error.issues
    expect(issues[0]?.path[0] ?? null).toBe(wrong)
  })
})

describe('groups in groups', () => {
  const groups = [
    { id: 'top', monitorIds: ['left', 'right', 'x'] },
    { id: 'left', monitorIds: ['a', 'bottom'] },
    { id: 'right', monitorIds: ['bottom'] },
    { id: 'bottom', monitorIds: ['b'] },
    { id: 'other', monitorIds: ['c'] },
  ]

  test('are judged after the groups that they contain', () => {
    expect(levelsAbove(groups, ['b'])).toEqual([['bottom'], ['left', 'right'], ['top']])
    expect(levelsAbove(groups, ['a'])).toEqual([['left'], ['top']])
    expect(levelsAbove(groups, ['c', 'x'])).toEqual([['top', 'other']])
    expect(levelsAbove(groups, ['left'])).toEqual([['left'], ['top']])
    expect(levelsAbove(groups, ['none'])).toEqual([])
  })

  test('follow the monitors in the inner groups', () => {
    expect(leavesOf(groups, 'top').toSorted()).toEqual(['a', 'b', 'x'])
    expect(leavesOf(groups, 'other')).toEqual(['c'])
  })

  test('do not loop on a cycle in the database', () => {
    const cycle = [
      { id: 'one', monitorIds: ['two'] },
      { id: 'two', monitorIds: ['one', 'a'] },
    ]
    expect(levelsAbove(cycle, ['a'])).toEqual([])
    expect(leavesOf(cycle, 'one')).toEqual(['a'])
  })
})
