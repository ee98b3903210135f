import { IncidentImpact, IncomingMode, IntegrationKind, ServiceStatus } from '../../generated/prisma/enums.ts'
import { costs, text } from '../../graphql/document/cost.ts'
import { connectionOfNode, pageArgs } from '../../graphql/list/connection.ts'
import { orderOf, pageOf } from '../../graphql/list/keyset.ts'
import type { IntegrationWithSecret } from '../integration.ts'
import { pathsOf, rulesOf, urlOf } from '../integration.ts'
import { pageableIntegrations, pageableReceived } from '../integration-queries.ts'
import type { GenericPaths } from '../kind/generic.ts'
import { MAX_INCOMING_BYTES } from '../receive.ts'
import { findBody, readBody } from '../received.ts'
import type { Rule } from '../rule.ts'
import { builder } from './builder.ts'
import { IncomingBody, IncomingBodyFilter, newestFirst } from './incoming-body.ts'

/** The maximum numbers of an integration’s rules, a rule’s labels, and resolved values. */
const MAX_RULES = 20
const MAX_LABELS = 10
const MAX_RESOLVED_VALUES = 20

const RuleLabel = builder.objectRef<{ readonly name: string; readonly value: string }>('IntegrationLabel').implement({
  description: 'A label that an alert must have.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the label.' }),
    value: t.exposeString('value', { description: 'The value of the label; * matches any text.' }),
  }),
})

const IntegrationRule = builder.objectRef<Rule>('IntegrationRule').implement({
  description: 'A rule for alerts with certain labels.',
  fields: (t) => ({
    labels: t.field({
      type: [RuleLabel],
      extensions: costs({ items: MAX_LABELS }),
      description: 'The labels that an alert must have; empty: every alert matches.',
      resolve: ({ labels }) => labels ?? [],
    }),
    serviceId: t.id({
      nullable: true,
      description: 'The service that the alerts affect; null: none.',
      resolve: ({ serviceId }) => serviceId ?? null,
    }),
    status: t.field({
      type: ServiceStatus,
      nullable: true,
      description: 'The status of the service; null: derived from the impact.',
      resolve: ({ status }) => status ?? null,
    }),
    impact: t.field({
      type: IncidentImpact,
      nullable: true,
      description: 'The impact of the incident; null: derived from the sender’s severity.',
      resolve: ({ impact }) => impact ?? null,
    }),
    mode: t.field({
      type: IncomingMode,
      description: 'What the alerts create.',
      resolve: ({ mode }) => mode ?? 'SUGGEST',
    }),
  }),
})

const IntegrationPaths = builder.objectRef<GenericPaths>('IntegrationPaths').implement({
  description: 'The paths to the parts of an alert in a JSON body; null: the field with the same name.',
  fields: (t) => ({
    title: t.string({ nullable: true, description: 'The title.', resolve: ({ title }) => title ?? null }),
    text: t.string({ nullable: true, description: 'A longer text.', resolve: ({ text: path }) => path ?? null }),
    key: t.string({
      nullable: true,
      description: 'The key that identifies the alert.',
      resolve: ({ key }) => key ?? null,
    }),
    state: t.string({ nullable: true, description: 'The state.', resolve: ({ state }) => state ?? null }),
    resolvedValues: t.stringList({
      nullable: true,
      extensions: costs({ items: MAX_RESOLVED_VALUES }),
      description: 'The values of the state that mean resolved; null: resolved, ok, up and similar.',
      resolve: ({ resolvedValues }) => resolvedValues ?? null,
    }),
    severity: t.string({ nullable: true, description: 'The severity.', resolve: ({ severity }) => severity ?? null }),
    link: t.string({ nullable: true, description: 'A link with details.', resolve: ({ link }) => link ?? null }),
    labels: t.string({ nullable: true, description: 'An object of labels.', resolve: ({ labels }) => labels ?? null }),
  }),
})

export const Integration = builder.objectRef<IntegrationWithSecret>('Integration').implement({
  description: 'A secret URL that receives alerts. Visible to the organization only.',
  fields: (t) => ({
    id: t.id({ description: 'The integration’s id.', resolve: ({ integration: { id } }) => id }),
    name: t.string({ description: 'The integration’s name.', resolve: ({ integration: { name } }) => name }),
    kind: t.field({
      type: IntegrationKind,
      description: 'The tool that sends the alerts.',
      resolve: ({ integration: { kind } }) => kind,
    }),
    url: t.string({
      nullable: true,
      description:
        'The URL to which the tool sends. Its last part is the secret, which is the routing key of PAGERDUTY_EVENTS. Returned only by `createIntegration` and `rotateIntegration`; null otherwise.',
      resolve: ({ secret }, _args, { site }) => urlOf(site, secret),
    }),
    rules: t.field({
      type: [IntegrationRule],
      extensions: costs({ items: MAX_RULES }),
      description: 'The rules for its alerts, in order.',
      resolve: ({ integration }) => [...rulesOf(integration)],
    }),
    checksSignatures: t.boolean({
      description: 'Whether the sender must sign its messages.',
      resolve: ({ integration: { signingSecret, kind } }) => signingSecret !== null || kind === 'SNS',
    }),
    paths: t.field({
      type: IntegrationPaths,
      nullable: true,
      description: 'The paths to the parts of an alert in its bodies; null unless the kind is GENERIC.',
      resolve: ({ integration }) => (integration.kind === 'GENERIC' ? pathsOf(integration) : null),
    }),
    bodies: t.field({
      type: connectionOfNode('IncomingBody', IncomingBody),
      description: 'The received messages, newest first. Kept for seven days, at most 1,000.',
      args: { filter: t.arg({ type: IncomingBodyFilter, required: false }), ...pageArgs },
      resolve: ({ integration: { id } }, { filter, ...args }, { db }) =>
        pageOf({
          order: newestFirst(filter),
          args,
          ...pageableReceived({ db }, id, filter?.status),
        }),
    }),
    fullBody: t.string({
      nullable: true,
      extensions: text(MAX_INCOMING_BYTES),
      description:
        'The whole body of a received message, up to 256 KiB; with a wrong signature, only its first 16 KiB. Null: no message has this id.',
      args: { id: t.arg.id() },
      resolve: async ({ integration }, { id }, { db, seal }) => {
        const row = await findBody({ db }, integration.id, id)
        return row === null ? null : readBody(seal, row)
      },
    }),
    lastReceivedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the last message arrived; null: none yet.',
      resolve: ({ integration: { lastReceivedAt } }) => lastReceivedAt,
    }),
    version: t.int({
      description: 'Incremented by every update.',
      resolve: ({ integration: { version } }) => version,
    }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ integration: { createdAt } }) => createdAt }),
  }),
})

const byCreation = orderOf('Integration', { createdAt: ['time', 'asc'], id: ['text', 'asc'] })

builder.prismaObjectField('Organization', 'alertIntegrations', (t) =>
  t.field({
    type: connectionOfNode('Integration', Integration),
    description: 'The addresses at which alerts of other tools arrive, oldest first.',
    args: pageArgs,
    resolve: ({ id }, args, ctx) => {
      const { where, read, count } = pageableIntegrations(ctx, id)
      return pageOf({
        ...{ order: byCreation, args, where, count },
        read: async (slice) =>
          (await read(slice)).map((integration) => ({
            ...{ integration, secret: null },
            ...{ createdAt: integration.createdAt, id: integration.id },
          })),
      })
    },
  }),
)
