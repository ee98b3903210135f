import { canReadOrganization } from '../../core/access.ts'
import { NotFound } from '../../core/errors.ts'
import { encodeCursor } from '../../event-log/event.ts'
import type { Gap } from '../../event-log/tail.ts'
import { startPosition } from '../../event-log/tail.ts'
import type { Event } from '../../generated/prisma/client.ts'
import { costs } from '../../graphql/document/cost.ts'
import { builder } from './builder.ts'
import { AuditEvent } from './event.ts'

const OrganizationEvent = builder.objectRef<Event | Gap>('OrganizationEvent').implement({
  description: 'A position in an organization’s log, and the event there.',
  fields: (t) => ({
    cursor: t.string({
      description: 'The position. Pass it as `after` to resume from here.',
      resolve: ({ seq }) => encodeCursor(seq),
    }),
    event: t.field({
      type: AuditEvent,
      nullable: true,
      description: 'The event. Null: events after your cursor are no longer available, so read everything again.',
      resolve: (event) => (event.kind === 'GAP' ? null : event),
    }),
  }),
})

builder.subscriptionField('organizationEvents', (t) =>
  t.field({
    type: OrganizationEvent,
    description:
      'Sends every event of an organization as it occurs, private ones included. Requires a key of the organization or membership.',
    args: {
      organizationId: t.arg.id({ description: 'The organization.' }),
      after: t.arg.string({
        required: false,
        description: 'A cursor: sends all later events. Default: events from now on.',
      }),
    },
    extensions: costs({ about: ({ organizationId }) => ({ objects: [String(organizationId)] }) }),
    subscribe: (_root, { organizationId, after }, { actor, eventLog }) => {
      if (!canReadOrganization(actor, organizationId)) throw new NotFound('Organization not found.')
      return eventLog.follow(organizationId, startPosition(after))
    },
    resolve: (event) => event,
  }),
)
