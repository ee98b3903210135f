import { hasScope, seesOrganization } from '../../account/access.ts'
import type { Subscriber as SubscriberRow } from '../../generated/prisma/client.ts'
import { ChannelKind, StopReason, Topic } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { costs } from '../../graphql/cost.ts'
import { secretsOf } from '../token.ts'
import { SubscriberState } from './words.ts'

/** Granted to whoever showed a subscriber's token. */
export const HOLDER = 'holder'

/** A subscriber, as its organization and the holder of its token see it. */
export const Subscriber = builder.prismaNode('Subscriber', {
  id: { field: 'id' },
  nullable: true,
  description: 'Somebody who is told of what happens on a page. For the organization, and for the holder of its token.',
  authScopes: ({ organizationId }, { actor }) => seesOrganization(actor, organizationId) || { $granted: HOLDER },
  fields: (t) => ({
    channel: t.expose('channel', { type: ChannelKind, description: 'How it is reached.' }),
    address: t.exposeString('label', {
      description: 'The mail address; of other channels no more than tells them apart.',
    }),
    state: t.field({ type: SubscriberState, resolve: stateOf, description: 'How far the subscription is.' }),
    topics: t.expose('topics', { type: [Topic], description: 'What it is notified about.' }),
    allServices: t.exposeBoolean('allServices', { description: 'Whether it is told of every service.' }),
    services: t.prismaField({
      type: ['Service'],
      extensions: costs({ items: 10 }),
      description: 'Those it has chosen, in the order of the page.',
      resolve: (query, { id }, _args, { db }) =>
        db.service.findMany({
          ...query,
          where: { subscribers: { some: { subscriberId: id } } },
          orderBy: [{ position: 'asc' }, { id: 'asc' }],
        }),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    confirmedAt: t.expose('confirmedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was confirmed; null: not yet.',
    }),
    stoppedAt: t.expose('stoppedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was stopped; null: it was not.',
    }),
    stopReason: t.expose('stopReason', {
      type: StopReason,
      nullable: true,
      description: 'Why it was stopped; null: it was not.',
    }),
    bounces: t.exposeInt('bounces', { description: 'How many messages were refused for good, in a row.' }),
    signingSecret: t.string({
      nullable: true,
      authScopes: ({ organizationId }, _args, { actor }) =>
        hasScope(actor, organizationId, 'WRITE') || { $granted: HOLDER },
      description:
        'What its webhooks are signed with, as Standard Webhooks says; null for other channels. Needs its token, or a key with scope WRITE.',
      resolve: (subscriber, _args, { seal, now }) => secretsOf(seal, subscriber, now())[0] ?? null,
    }),
  }),
})

function stateOf({ confirmedAt, stoppedAt }: SubscriberRow): (typeof SubscriberState)['$inferType'] {
  if (stoppedAt !== null) return 'STOPPED'
  return confirmedAt === null ? 'PENDING' : 'ACTIVE'
}
