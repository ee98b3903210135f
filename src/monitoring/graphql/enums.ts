import { MonitorKind, MonitorState, PausedBy, ProbeOutcome } from '../../generated/prisma/enums.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { kindRules } from '../monitor/probe-kinds.ts'
import { builder } from './builder.ts'

const about = Object.fromEntries(Object.values(kindRules).map(({ kind, words }) => [kind, words.about])) as Record<
  MonitorKind,
  string
>

builder.enumType(MonitorKind, {
  name: 'MonitorKind',
  description: 'The kind of a monitor.',
  values: describedValues(about),
})
builder.enumType(MonitorState, {
  name: 'MonitorState',
  description: 'The state of a monitor.',
  values: describedValues({
    DEGRADED: 'Reachable, but slow or close to a limit.',
    DOWN: 'Failing.',
    PAUSED: 'Not being probed.',
    PENDING: 'No result yet.',
    UP: 'Working.',
  }),
})
builder.enumType(PausedBy, {
  name: 'PausedBy',
  description: 'Who paused a monitor: its owner, or the limit of its tier.',
  values: describedValues({ OWNER: 'Its organization.', TIER: 'The limit of its tier.' }),
})
builder.enumType(ProbeOutcome, {
  name: 'ProbeOutcome',
  description: 'The outcome of one probe.',
  values: describedValues({
    DEGRADED: 'The target works, but is slow or close to a limit.',
    DOWN: 'The target does not work.',
    UNKNOWN: 'The probe was inconclusive, for example because the worker failed or a blacklist refused the query.',
    UP: 'The target works.',
  }),
})
