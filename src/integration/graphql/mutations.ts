import { Conflict, Invalid, NotFound, TierLimitReached } from '../../core/errors.ts'
import { IncidentImpact, IncomingMode, IntegrationKind, ServiceStatus } from '../../generated/prisma/enums.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { VERSION_READ } from '../../graphql/schema/version.ts'
import { createIntegration, deleteIntegration, rotateIntegration, updateIntegration } from '../integration.ts'
import { builder } from './builder.ts'
import { Integration } from './integration.ts'

const LabelInput = builder.inputType('IntegrationLabelInput', {
  description: 'A label that an alert must have.',
  fields: (t) => ({
    name: t.string({ description: 'The name of the label.' }),
    value: t.string({ description: 'The value of the label; * matches any text.' }),
  }),
})

const RuleInput = builder.inputType('IntegrationRuleInput', {
  description:
    'A rule for alerts with certain labels. The first rule that matches decides the mode and the impact; each rule that matches adds its service.',
  fields: (t) => ({
    labels: t.field({
      type: [LabelInput],
      required: false,
      description: 'The labels that an alert must have. Default: none.',
    }),
    serviceId: t.id({ required: false, description: 'The service that the alerts affect.' }),
    status: t.field({
      type: ServiceStatus,
      required: false,
      description: 'The status of the service. Default: derived from the impact.',
    }),
    impact: t.field({
      type: IncidentImpact,
      required: false,
      description: 'The impact of the incident. Default: derived from the sender’s severity.',
    }),
    mode: t.field({ type: IncomingMode, required: false, description: 'What the alerts create. Default: SUGGEST.' }),
  }),
})

const PathsInput = builder.inputType('IntegrationPathsInput', {
  description:
    'The paths to the parts of an alert in a JSON body, such as alert.title or tags[0]. Default: the fields with these names.',
  fields: (t) => ({
    title: t.string({ required: false, description: 'The title.' }),
    text: t.string({ required: false, description: 'A longer text.' }),
    key: t.string({ required: false, description: 'The key that identifies an alert. Default: the title.' }),
    state: t.string({ required: false, description: 'Whether the alert fires or is resolved.' }),
    resolvedValues: t.stringList({
      required: false,
      description: 'The values of the state that mean resolved. Default: resolved, ok, up and similar.',
    }),
    severity: t.string({ required: false, description: 'The severity: critical, error, warning or info.' }),
    link: t.string({ required: false, description: 'A link with details.' }),
    labels: t.string({ required: false, description: 'An object of labels.' }),
  }),
})

type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0]

const settings = (t: InputFields) => ({
  rules: t.field({
    type: [RuleInput],
    required: false,
    description: 'Up to 20 rules. Without rules, every alert suggests an incident.',
  }),
  signingSecret: t.string({
    required: false,
    description:
      'The secret with which Grafana, PagerDuty or Sentry signs; for GENERIC, a Standard Webhooks secret (whsec_…). Null: signatures are not checked.',
  }),
  paths: t.field({ type: PathsInput, required: false, description: 'Only for GENERIC.' }),
})

const CreateIntegrationInput = builder.inputType('CreateIntegrationInput', {
  description: 'An address that receives alerts.',
  fields: (t) => ({
    name: t.string({ description: 'The integration’s name.' }),
    kind: t.field({ type: IntegrationKind, description: 'The tool that sends the alerts. It cannot change later.' }),
    ...settings(t),
  }),
})

builder.mutationField('createIntegration', (t) =>
  t.field({
    type: Integration,
    description: 'Creates an integration. Its URL is shown once. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: CreateIntegrationInput }) },
    errors: { types: [Invalid, NotFound, TierLimitReached] },
    resolve: (_root, { input }, ctx) => createIntegration(ctx, input),
  }),
)

const UpdateIntegrationInput = builder.inputType('UpdateIntegrationInput', {
  description: 'Omitted fields stay unchanged. The kind cannot change.',
  fields: (t) => ({
    id: t.id({ description: 'The integration to update.' }),
    name: t.string({ required: false, description: 'The integration’s name.' }),
    ...settings(t),
    version: t.int(VERSION_READ),
  }),
})

builder.mutationField('updateIntegration', (t) =>
  t.field({
    type: Integration,
    description: 'Updates an integration. Requires a key with scope WRITE.',
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
    description: 'Deletes an integration and its messages, but keeps its incidents. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => deleteIntegration(ctx, id),
  }),
)
