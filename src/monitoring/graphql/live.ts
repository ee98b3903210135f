import { requireScope } from '../../account/access.ts'
import { builder } from '../../graphql/builder.ts'
import { lasting } from '../../graphql/subscribe.ts'
import { ownMonitor } from '../guard.ts'
import { MonitorCheckEvent } from './check.ts'

builder.subscriptionField('monitorChecks', (t) =>
  t.field({
    type: MonitorCheckEvent,
    description: 'What the checks of a monitor find, as they end. Needs a key of the organization.',
    args: { id: t.arg.id() },
    subscribe: async (_root, { id }, ctx) => {
      const monitor = await ownMonitor(ctx, requireScope(ctx, 'READ'), id)
      return lasting(ctx.checks.follow(monitor.id))
    },
    resolve: (check) => check,
  }),
)
