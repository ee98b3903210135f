import { requireScope } from '../../core/access.ts'
import { costs } from '../../graphql/document/cost.ts'
import { markEndless } from '../../graphql/subscription/subscribe.ts'
import { ownMonitor } from '../monitor-events.ts'
import { builder } from './builder.ts'
import { ProbeResultEvent } from './probe-result.ts'

builder.subscriptionField('monitorChecks', (t) =>
  t.field({
    type: ProbeResultEvent,
    description: 'Streams the probe results of a monitor as they are stored. Requires a key of the organization.',
    args: { id: t.arg.id() },
    extensions: costs({ about: ({ id }) => ({ objects: [String(id)] }) }),
    subscribe: async (_root, { id }, ctx) => {
      const monitor = await ownMonitor(ctx, requireScope(ctx, 'READ'), id)
      return markEndless(ctx.resultFeed.follow(monitor.id))
    },
    resolve: (result) => result,
  }),
)
