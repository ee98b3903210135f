import { AlertChannelKind } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { costs } from '../../graphql/cost.ts'
import { batchPerOperation } from '../../graphql/loader.ts'
import { ownerOnly } from '../../graphql/owner-only.ts'
import type { AlertedChannel as Row } from '../alerted.ts'
import { MAX_ALERTED, readAlertedChannels } from '../alerted.ts'

const AlertedChannel = builder.objectRef<Row>('AlertedChannel').implement({
  description: 'An alert channel that was told of an alert of an incident’s monitors.',
  fields: (t) => ({
    channelId: t.exposeID('channelId', { description: 'The channel.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    kind: t.expose('kind', { type: AlertChannelKind, description: 'How it reaches the team.' }),
    notifiedAt: t.expose('notifiedAt', { type: 'DateTime', description: 'When it was first told.' }),
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
      'The alert channels that were told of the alerts of its monitors, as long as alerts are kept. Requires a key of the organization.',
    select: { id: true },
    resolve: ({ id }, _args, ctx) => alertedOf(ctx, id),
  }),
)
