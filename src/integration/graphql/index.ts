import { Conflict, Invalid, NotFound, TierLimitReached } from '../../core/errors.ts'
import type { IncomingBody as IncomingBodyRow } from '../../generated/prisma/client.ts'
import {
  IncidentImpact,
  IncomingMode,
  IncomingStatus,
  IntegrationKind,
  ServiceStatus,
} from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { costs, rows, text } from '../../graphql/cost.ts'
import { deletionPayload } from '../../graphql/deletion-payload.ts'
import { describedValues } from '../../graphql/descriptions.ts'
import { VERSION_READ } from '../../graphql/version.ts'
import type { IntegrationWithSecret } from '../integration.ts'
import {
  createIntegration,
  deleteIntegration,
  MAX_INTEGRATIONS,
  rotateIntegration,
  rulesOf,
  updateIntegration,
  urlOf,
} from '../integration.ts'
import { readBody, SHOWN_BODIES, SHOWN_CHARACTERS } from '../received.ts'
import type { Rule } from '../rule.ts'

builder.enumType(IntegrationKind, {
  name: 'IntegrationKind',
  description: 'Who sends alerts.',
  values: describedValues({
    ALERTMANAGER: 'Prometheus Alertmanager, by its webhook (version 4).',
    DATADOG: 'Datadog, by a webhook with our template.',
    GENERIC: 'Any program that sends JSON.',
    GRAFANA: 'Grafana, by a webhook contact point.',
    PAGERDUTY: 'PagerDuty, by its webhooks (version 3).',
    PAGERDUTY_EVENTS: 'Whatever speaks PagerDuty’s Events API (version 2).',
    SENTRY: 'Sentry, by an internal integration.',
    SNS: 'Amazon CloudWatch, by a topic of Amazon SNS.',
    UPTIME_KUMA: 'Uptime Kuma, by a webhook notification.',
  }),
})
builder.enumType(IncomingMode, {
  name: 'IncomingMode',
  description: 'What becomes of an alert that came in.',
  values: describedValues({
    DRAFT: 'A draft of an incident.',
    PUBLISH: 'An incident that everybody sees.',
    SUGGEST: 'A suggestion of an incident.',
  }),
})
builder.enumType(IncomingStatus, {
  name: 'IncomingStatus',
  description: 'What became of a body that came in.',
  values: describedValues({
    DONE: 'It was read and applied.',
    IGNORED: 'It says nothing of an alert, or no rule matches it.',
    PENDING: 'It waits to be read.',
    REFUSED: 'It could not be read, or is not signed as it should be.',
  }),
})

/** The most rules of an integration, and labels of a rule. */
const MAX_RULES = 20
const MAX_LABELS = 10

const RuleLabel = builder.objectRef<{ readonly name: string; readonly value: string }>('IntegrationLabel').implement({
  description: 'A label that an alert must have.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the label.' }),
    value: t.exposeString('value', { description: 'Its value; * stands for any text.' }),
  }),
})

const IntegrationRule = builder.objectRef<Rule>('IntegrationRule').implement({
  description: 'What becomes of the alerts with some labels.',
  fields: (t) => ({
    labels: t.field({
      type: [RuleLabel],
      extensions: costs({ items: MAX_LABELS }),
      description: 'The labels that an alert must have; none: every alert.',
      resolve: ({ labels }) => labels ?? [],
    }),
    serviceId: t.id({
      nullable: true,
      description: 'The service that they affect; null: none.',
      resolve: ({ serviceId }) => serviceId ?? null,
    }),
    status: t.field({
      type: ServiceStatus,
      nullable: true,
      description: 'The status of the service; null: by the impact.',
      resolve: ({ status }) => status ?? null,
    }),
    impact: t.field({
      type: IncidentImpact,
      nullable: true,
      description: 'The impact of the incident; null: by the severity that the sender says.',
      resolve: ({ impact }) => impact ?? null,
    }),
    mode: t.field({
      type: IncomingMode,
      description: 'What becomes of them.',
      resolve: ({ mode }) => mode ?? 'SUGGEST',
    }),
  }),
})

const IncomingBody = builder.objectRef<IncomingBodyRow>('IncomingBody').implement({
  description: 'What a sender sent.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    receivedAt: t.expose('receivedAt', { type: 'DateTime', description: 'When it came in.' }),
    status: t.expose('status', { type: IncomingStatus, description: 'What became of it.' }),
    note: t.exposeString('note', { extensions: text(500), description: 'What became of it, in words.' }),
    body: t.string({
      extensions: text(SHOWN_CHARACTERS),
      description: `The body, cut to ${SHOWN_CHARACTERS} characters.`,
      resolve: (row, _args, { seal }) => readBody(seal, row),
    }),
  }),
})

const Integration = builder.objectRef<IntegrationWithSecret>('Integration').implement({
  description: 'A secret address at which alerts come in. Visible to the organization only.',
  fields: (t) => ({
    id: t.id({ description: 'Its id.', resolve: ({ integration: { id } }) => id }),
    name: t.string({ description: 'Its name.', resolve: ({ integration: { name } }) => name }),
    kind: t.field({ type: IntegrationKind, description: 'Who sends.', resolve: ({ integration: { kind } }) => kind }),
    url: t.string({
      nullable: true,
      description:
        'The address to send to. Its last part is the secret, which is the routing key of PAGERDUTY_EVENTS. Given once, by `createIntegration` and `rotateIntegration`; null afterwards.',
      resolve: ({ secret }, _args, { site }) => urlOf(site, secret),
    }),
    rules: t.field({
      type: [IntegrationRule],
      extensions: costs({ items: MAX_RULES }),
      description: 'What becomes of its alerts, in order.',
      resolve: ({ integration }) => [...rulesOf(integration)],
    }),
    checksSignatures: t.boolean({
      description: 'Whether the sender has to sign what it sends.',
      resolve: ({ integration: { signingSecret, kind } }) => signingSecret !== null || kind === 'SNS',
    }),
    received: t.field({
      type: [IncomingBody],
      extensions: rows(SHOWN_BODIES),
      description: `The last ${SHOWN_BODIES} bodies that came in, newest first. Kept for seven days.`,
      resolve: ({ integration: { id } }, _args, { db }) =>
        db.incomingBody.findMany({ where: { integrationId: id }, orderBy: { position: 'desc' }, take: SHOWN_BODIES }),
    }),
    lastReceivedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When something last came in; null: nothing has.',
      resolve: ({ integration: { lastReceivedAt } }) => lastReceivedAt,
    }),
    version: t.int({
      description: 'The version, incremented by every edit.',
      resolve: ({ integration: { version } }) => version,
    }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ integration: { createdAt } }) => createdAt }),
  }),
})

builder.prismaObjectField('Organization', 'integrations', (t) =>
  t.field({
    type: [Integration],
    extensions: rows(MAX_INTEGRATIONS),
    description: 'The addresses at which alerts come in, in the order in which they were created.',
    resolve: async ({ id }, _args, { db }) => {
      const orderBy = [{ createdAt: 'asc' as const }, { id: 'asc' as const }]
      const found = await db.integration.findMany({ where: { organizationId: id }, orderBy, take: MAX_INTEGRATIONS })
      return found.map((integration) => ({ integration, secret: null }))
    },
  }),
)

const LabelInput = builder.inputType('IntegrationLabelInput', {
  description: 'A label that an alert must have.',
  fields: (t) => ({
    name: t.string({ description: 'The name of the label.' }),
    value: t.string({ description: 'Its value; * stands for any text.' }),
  }),
})

const RuleInput = builder.inputType('IntegrationRuleInput', {
  description:
    'What becomes of the alerts with some labels. The first rule that matches decides the mode and the impact; each adds its service.',
  fields: (t) => ({
    labels: t.field({
      type: [LabelInput],
      required: false,
      description: 'The labels that an alert must have. Default: none.',
    }),
    serviceId: t.id({ required: false, description: 'The service that they affect.' }),
    status: t.field({
      type: ServiceStatus,
      required: false,
      description: 'The status of the service. Default: by the impact.',
    }),
    impact: t.field({
      type: IncidentImpact,
      required: false,
      description: 'The impact of the incident. Default: by the severity that the sender says.',
    }),
    mode: t.field({ type: IncomingMode, required: false, description: 'What becomes of them. Default: SUGGEST.' }),
  }),
})

const PathsInput = builder.inputType('IntegrationPathsInput', {
  description:
    'Where a body of any JSON has the parts of an alert, such as alert.title or tags[0]. Default: members of these names.',
  fields: (t) => ({
    title: t.string({ required: false, description: 'The title.' }),
    text: t.string({ required: false, description: 'A longer text.' }),
    key: t.string({ required: false, description: 'What tells alerts apart. Default: the title.' }),
    state: t.string({ required: false, description: 'Whether it fires or is resolved.' }),
    resolvedValues: t.stringList({
      required: false,
      description: 'The values of the state that mean resolved. Default: resolved, ok, up and the like.',
    }),
    severity: t.string({ required: false, description: 'The severity: critical, error, warning or info.' }),
    link: t.string({ required: false, description: 'Where to read more.' }),
    labels: t.string({ required: false, description: 'An object of labels.' }),
  }),
})

type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0]

const settings = (t: InputFields) => ({
  rules: t.field({ type: [RuleInput], required: false, description: 'Up to 20 rules. None: everything is suggested.' }),
  signingSecret: t.string({
    required: false,
    description: 'The secret with which Grafana, PagerDuty or Sentry sign. Null: signatures are not checked.',
  }),
  paths: t.field({ type: PathsInput, required: false, description: 'For GENERIC.' }),
})

const CreateIntegrationInput = builder.inputType('CreateIntegrationInput', {
  description: 'An address at which alerts come in.',
  fields: (t) => ({
    name: t.string({ description: 'Its name.' }),
    kind: t.field({ type: IntegrationKind, description: 'Who sends. It stays.' }),
    ...settings(t),
  }),
})

builder.mutationField('createIntegration', (t) =>
  t.field({
    type: Integration,
    description: 'Creates an integration. Its URL is given once. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: CreateIntegrationInput }) },
    errors: { types: [Invalid, NotFound, TierLimitReached] },
    resolve: (_root, { input }, ctx) => createIntegration(ctx, input),
  }),
)

const UpdateIntegrationInput = builder.inputType('UpdateIntegrationInput', {
  description: 'Omitted fields stay unchanged, and so does the kind.',
  fields: (t) => ({
    id: t.id({ description: 'The integration to change.' }),
    name: t.string({ required: false, description: 'Its name.' }),
    ...settings(t),
    version: t.int(VERSION_READ),
  }),
})

builder.mutationField('updateIntegration', (t) =>
  t.field({
    type: Integration,
    description: 'Changes an integration. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: UpdateIntegrationInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: async (_root, { input }, ctx) => ({ integration: await updateIntegration(ctx, input), secret: null }),
  }),
)

builder.mutationField('rotateIntegration', (t) =>
  t.field({
    type: Integration,
    description: 'Replaces the URL of an integration; the old one stops working. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => rotateIntegration(ctx, id),
  }),
)

builder.mutationField('deleteIntegration', (t) =>
  t.field({
    type: deletionPayload('Integration'),
    description: 'Deletes an integration and what came in; its incidents stay. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => deleteIntegration(ctx, id),
  }),
)
