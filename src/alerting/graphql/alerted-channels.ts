import { AlertChannelKind } from '../../generated/prisma/enums.ts'
import { costs } from '../../graphql/document/cost.ts'
import { batchPerOperation } from '../../graphql/execution/loader.ts'
import { ownerOnly } from '../../graphql/schema/owner-only.ts'
import type { AlertedChannel as Row } from '../alerted-channels.ts'
import { MAX_ALERTED, readAlertedChannels } from '../alerted-channels.ts'
import { builder } from './builder.ts'

const AlertedChannel = builder.objectRef<Row>('AlertedChannel').implement({
  description: 'An alert channel that was notified of an alert of an incident’s monitors.',
  fields: (t) => ({
    channelId: t.exposeID('channelId', { description: 'The channel.' }),
    name: t.exposeString('name', { description: 'The channel’s name.' }),
    kind: t.expose('kind', { type: AlertChannelKind, description: 'How the channel reaches the team.' }),
    notifiedAt: t.expose('notifiedAt', { type: 'DateTime', description: 'When it was first notified.' }),
  }),
})

const alertedOf = batchPerOperation(async ({ db }, ids: readonly string[]) => {
  const found = await readAlertedChannels(db, [...new Set(ids)])
  return ids.map((id) => found.filter(({ incidentId }) => incidentId === id))
})

builder.prismaObjectField('Incident', 'alertedChannels', (t) =>
  t.field({
    type: [AlertedChannel],
    nullable: true,
    authScopes: ownerOnly,
    extensions: costs({ items: MAX_ALERTED }),
    description:
      'The alert channels that were notified of the alerts of its monitors, for as long as alerts are kept. Requires a key of the organization.',
    select: { id: true },
    resolve: ({ id }, _args, ctx) => alertedOf(ctx, id),
  }),
)
