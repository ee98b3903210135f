import { z } from 'zod'
import type { Issue } from '../../core/errors.ts'
import type { KindRules } from '../probe/probe.ts'
import { MAX_GROUP_MEMBERS } from './limits.ts'

/** How many monitors of a group must be up. */
export const requirements = ['ALL', 'ANY', 'AT_LEAST'] as const

const options = z
  .strictObject({
    monitorIds: z.array(z.string()).max(MAX_GROUP_MEMBERS),
    require: z.enum(requirements).default('ALL'),
    /** The number of members that must be up, for AT_LEAST. */
    count: z.int().min(1).max(MAX_GROUP_MEMBERS).optional(),
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
  anywhere: true,
  minIntervalSeconds: 10,
  defaultIntervalSeconds: 60,
  smallest: { monitorIds: [] },
  subject: null,
  target: () => null,
  refusals,
}
