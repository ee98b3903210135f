import { MonitorKind, MonitorState, PausedBy, ProbeOutcome } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'

builder.enumType(MonitorKind, { name: 'MonitorKind', description: 'How a monitor watches.' })
builder.enumType(MonitorState, {
  name: 'MonitorState',
  description: 'What a monitor found. PENDING: not enough is known yet.',
})
builder.enumType(PausedBy, {
  name: 'PausedBy',
  description: 'Who paused a monitor: its owner, or the limit of a tier that fell.',
})
builder.enumType(ProbeOutcome, {
  name: 'ProbeOutcome',
  description: 'What one check found. UNKNOWN: nothing about the target, by a fault that is not its own.',
})
