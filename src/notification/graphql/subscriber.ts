import { canReadOrganization, hasScope } from '../../core/access.ts'
import { ChannelKind, StopReason, Topic } from '../../generated/prisma/enums.ts'
import { rows } from '../../graphql/document/cost.ts'
import { Language, languages } from '../../language/catalogue.ts'
import { MAX_SERVICES } from '../../status/ownership.ts'
import { subscriberState } from '../subscriber/list-filter.ts'
import { secretsOf } from '../subscriber/token.ts'
import { builder } from './builder.ts'
import { SubscriberState } from './enums.ts'

/** The scope of the holder of a subscriber's token. */
export const HOLDER = 'holder'

/** How many followed incidents are read. */
const MAX_INCIDENTS = 20

export const Subscriber = builder.prismaNode('Subscriber', {
  id: { field: 'id' },
  nullable: true,
  description:
    'An address that receives notifications of a page. Visible to the organization and to the holder of its token.',
  authScopes: ({ organizationId }, { actor }) => canReadOrganization(actor, organizationId) || { $granted: HOLDER },
  fields: (t) => ({
    channel: t.expose('channel', { type: ChannelKind, description: 'How the subscriber is reached.' }),
    address: t.exposeString('label', {
      description: 'The email address; for other channels, a shortened form that identifies it.',
    }),
    state: t.field({ type: SubscriberState, resolve: subscriberState, description: 'The state of the subscription.' }),
    topics: t.expose('topics', { type: [Topic], description: 'What it is notified about.' }),
    language: t.field({
      type: Language,
      description: 'The language of its messages, if the page offers it.',
      resolve: ({ language }) => languages.find((each) => each === language) ?? 'EN',
    }),
    allServices: t.exposeBoolean('allServices', { description: 'Whether it gets notified about every service.' }),
    services: t.prismaField({
      type: ['Service'],
      extensions: rows(MAX_SERVICES),
      description: 'The chosen services, in page order.',
      resolve: (query, { id }, _args, { db }) =>
        db.service.findMany({
          ...query,
          where: { subscribers: { some: { subscriberId: id } } },
          orderBy: [{ position: 'asc' }, { id: 'asc' }],
        }),
    }),
    incidents: t.prismaField({
      type: ['Incident'],
      extensions: rows(MAX_INCIDENTS),
      description: `The newest ${MAX_INCIDENTS} incidents that it follows until they are resolved, regardless of its topics.`,
      resolve: (query, { id }, _args, { db }) =>
        db.incident.findMany({
          ...query,
          where: { followers: { some: { subscriberId: id } } },
          orderBy: [{ startedAt: 'desc' }, { id: 'desc' }],
          take: MAX_INCIDENTS,
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
      description: 'When it was stopped; null: not stopped.',
    }),
    stopReason: t.expose('stopReason', {
      type: StopReason,
      nullable: true,
      description: 'Why it was stopped; null: not stopped.',
    }),
    bounces: t.exposeInt('bounces', { description: 'How many messages in a row were permanently refused.' }),
    signingSecret: t.string({
      nullable: true,
      authScopes: ({ organizationId }, _args, { actor }) =>
        hasScope(actor, organizationId, 'WRITE') || { $granted: HOLDER },
      description:
        'The signing secret of a webhook, as defined by Standard Webhooks; null for other channels. Requires its token, or a key with scope WRITE.',
      resolve: (subscriber, _args, { seal, now }) => secretsOf(seal, subscriber, now())[0] ?? null,
    }),
  }),
})
