import { MonitorKind, MonitorState, PausedBy, ProbeOutcome } from '../../generated/prisma/enums.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import type { DescribedKind } from '../monitor/probe-kinds.ts'
import { describedKinds } from '../monitor/probe-kinds.ts'
import { builder } from './builder.ts'

const about = Object.fromEntries(
  Object.entries(describedKinds).map(([kind, { words }]) => [kind, words.about]),
) as Record<DescribedKind, string>

builder.enumType(MonitorKind, {
  name: 'MonitorKind',
  description: 'The kind of a monitor.',
  values: describedValues({
    BLACKLIST: 'Checks whether blacklists list an IP address or a domain.',
    DNS: 'Resolves a name.',
    GROUP: 'Combines the states of other monitors.',
    HEARTBEAT: 'Waits for a job to report.',
    HTTP: 'Sends an HTTP request.',
    PING: 'Sends ICMP echo requests.',
    TCP: 'Opens a TCP connection.',
    ...about,
  }),
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
