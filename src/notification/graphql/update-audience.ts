import { ChannelKind } from '../../generated/prisma/enums.ts'
import { costs } from '../../graphql/document/cost.ts'
import { batchPerOperation } from '../../graphql/execution/loader.ts'
import { ownerOnly } from '../../graphql/schema/owner-only.ts'
import type { UpdateAudience as Audience } from '../delivery/update-audience.ts'
import { readUpdateAudiences } from '../delivery/update-audience.ts'
import { builder } from './builder.ts'

const UpdateAudience = builder.objectRef<Audience>('UpdateAudience').implement({
  description: 'How many subscribers of one channel were notified of an incident update.',
  fields: (t) => ({
    channel: t.expose('channel', { type: ChannelKind, description: 'The kind of channel.' }),
    notified: t.exposeInt('notified', { description: 'How many subscribers.' }),
    delivered: t.exposeInt('delivered', { description: 'How many of them got it.' }),
    failed: t.exposeInt('failed', {
      description: 'How many did not get it, because it was given up or the subscription ended. The rest is pending.',
    }),
  }),
})

interface Asked {
  readonly id: string
  readonly organizationId: string
  readonly incidentId: string
}

const audiencesOf = batchPerOperation(async ({ db }, updates: readonly Asked[]) => {
  const audiences = new Map<string, readonly Audience[]>()
  for (const organizationId of new Set(updates.map((each) => each.organizationId))) {
    const own = updates.filter((each) => each.organizationId === organizationId)
    const incidentIds = [...new Set(own.map(({ incidentId }) => incidentId))]
    const found = await readUpdateAudiences(db, organizationId, incidentIds, [...new Set(own.map(({ id }) => id))])
    for (const [id, channels] of found) audiences.set(id, channels)
  }
  return updates.map(({ id }) => [...(audiences.get(id) ?? [])])
})

builder.prismaObjectField('IncidentUpdate', 'notified', (t) =>
  t.field({
    type: [UpdateAudience],
    nullable: true,
    authScopes: ownerOnly,
    extensions: costs({ items: Object.keys(ChannelKind).length }),
    description:
      'How many subscribers were notified of it, by channel. Available for 30 days, as long as deliveries are kept. Requires a key of the organization.',
    select: { id: true, organizationId: true, incidentId: true },
    resolve: (update, _args, ctx) => audiencesOf(ctx, update),
  }),
)
