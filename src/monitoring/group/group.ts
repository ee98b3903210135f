import { z } from 'zod'
import { described, idText, named } from '../../core/described.ts'
import type { Issue } from '../../core/errors.ts'
import type { KindRules } from '../probe/probe.ts'
import { MAX_GROUP_MEMBERS } from './limits.ts'

/** How many monitors of a group must be up. */
export const requirements = ['ALL', 'ANY', 'AT_LEAST'] as const

const requirementName = {
  name: 'GroupRequirement',
  about: 'How many monitors of a group must be up.',
  values: { ALL: 'All of them.', ANY: 'At least one.', AT_LEAST: 'At least `count`.' },
  texts: { ALL: 'All are up', ANY: 'Any is up', AT_LEAST: 'At least this many are up' },
}

const options = z
  .strictObject({
    monitorIds: described(z.array(idText).max(MAX_GROUP_MEMBERS), {
      label: 'Monitors',
      description: '1 to 100 monitors, groups included.',
      hint: 'Paused monitors do not count.',
    }),
    require: described(named(z.enum(requirements), requirementName).default('ALL'), {
      label: 'Up when',
      description: 'How many must be up.',
    }),
    count: described(z.int().min(1).max(MAX_GROUP_MEMBERS).optional(), {
      label: 'At least',
      description: 'How many monitors must be up, for AT_LEAST only.',
      hint: 'How many must be up. Empty, unless “At least this many are up” is chosen.',
    }),
  })
  .superRefine(({ require, count }, issues) => {
    if (require === 'AT_LEAST' && count === undefined)
      issues.addIssue({ code: 'custom', path: ['count'], message: 'must be given with AT_LEAST' })
    if (require !== 'AT_LEAST' && count !== undefined)
      issues.addIssue({ code: 'custom', path: ['count'], message: 'must be given with AT_LEAST only' })
  })

/** The validated options of a group. */
export type GroupOptions = z.output<typeof options>

/** Returns the issues of new options. Stored options may have fewer members, because monitors may have been deleted. */
function refusals({ monitorIds, count = 1 }: GroupOptions): Issue[] {
  if (monitorIds.length === 0) return [{ path: ['monitorIds'], message: 'must have at least 1 item' }]
  if (count > monitorIds.length) return [{ path: ['count'], message: `must be at most ${monitorIds.length}` }]
  return []
}

/** The kind that combines the states of other monitors. It has no probe. */
export const group: KindRules<typeof options> = {
  kind: 'GROUP',
  options,
  words: { name: 'Group', about: 'Follows other monitors: all, any or some of them must be up.' },
  anywhere: true,
  minIntervalSeconds: 10,
  defaultIntervalSeconds: 60,
  smallest: { monitorIds: [] },
  subject: null,
  target: () => null,
  refusals,
}
