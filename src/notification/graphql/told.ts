import { ChannelKind } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { costs } from '../../graphql/cost.ts'
import { batchPerOperation } from '../../graphql/loader.ts'
import { ownerOnly } from '../../graphql/owner-only.ts'
import type { ToldByChannel } from '../told.ts'
import { readTold } from '../told.ts'

const UpdateAudience = builder.objectRef<ToldByChannel>('UpdateAudience').implement({
  description: 'How many subscribers of one channel were told of an incident update.',
  fields: (t) => ({
    channel: t.expose('channel', { type: ChannelKind, description: 'The kind of channel.' }),
    told: t.exposeInt('told', { description: 'How many subscribers.' }),
    delivered: t.exposeInt('delivered', { description: 'To how many of them it was delivered.' }),
    failed: t.exposeInt('failed', {
      description: 'To how many it was not: given up, or the subscription ended. The rest is on its way.',
    }),
  }),
})

interface Asked {
  readonly id: string
  readonly organizationId: string
  readonly incidentId: string
}

const toldOf = batchPerOperation(async ({ db }, updates: readonly Asked[]) => {
  const told = new Map<string, readonly ToldByChannel[]>()
  for (const organizationId of new Set(updates.map((each) => each.organizationId))) {
    const own = updates.filter((each) => each.organizationId === organizationId)
    const incidentIds = [...new Set(own.map(({ incidentId }) => incidentId))]
    const found = await readTold(db, organizationId, incidentIds, [...new Set(own.map(({ id }) => id))])
    for (const [id, channels] of found) told.set(id, channels)
  }
  return updates.map(({ id }) => [...(told.get(id) ?? [])])
})

builder.prismaObjectField('IncidentUpdate', 'told', (t) =>
  t.field({
    type: [UpdateAudience],
    nullable: true,
    authScopes: ownerOnly,
    extensions: costs({ items: Object.keys(ChannelKind).length }),
    description:
      'How many subscribers were told of it, by channel, as long as deliveries are kept: 30 days. Requires a key of the organization.',
    select: { id: true, organizationId: true, incidentId: true },
    resolve: (update, _args, ctx) => toldOf(ctx, update),
  }),
)
