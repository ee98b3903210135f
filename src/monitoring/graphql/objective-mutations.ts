import { Conflict, Invalid, ManagedByFile, NotFound, TierLimitReached } from '../../core/errors.ts'
import { CorrectionKind } from '../../generated/prisma/enums.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { createRowResolver, IDEMPOTENCY_KEY } from '../../graphql/schema/idempotent-mutation.ts'
import { VERSION_READ } from '../../graphql/schema/version.ts'
import { correctUptime, deleteUptimeCorrection, MAX_REASON } from '../objective/correction.ts'
import { createObjective, deleteObjective, updateObjective } from '../objective/objective.ts'
import { builder } from './builder.ts'
import { Objective, UptimeCorrection } from './objective.ts'

const TARGET = 'The target availability, in percent: 50 to 99.999, with at most three decimals.'
const WINDOW = 'The length of a rolling window in days of 24 hours, 1 to 366 and no more than the tier’s history.'

const CreateObjectiveInput = builder.inputType('CreateObjectiveInput', {
  description: 'The objective to create.',
  fields: (t) => ({
    serviceId: t.id({ description: 'The service.' }),
    target: t.float({ description: TARGET }),
    windowDays: t.int({ required: false, description: `${WINDOW} Default: the calendar month.` }),
    timeZone: t.string({
      required: false,
      description: 'The IANA time zone of calendar months. Default: the organization’s.',
    }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

builder.mutationField('createObjective', (t) =>
  t.field({
    type: Objective,
    description: 'Creates an objective of a service. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: CreateObjectiveInput }) },
    errors: { types: [Invalid, NotFound, Conflict, TierLimitReached] },
    resolve: createRowResolver('createObjective', createObjective),
  }),
)

const UpdateObjectiveInput = builder.inputType('UpdateObjectiveInput', {
  description: 'Omitted fields stay unchanged, and so does the service.',
  fields: (t) => ({
    id: t.id({ description: 'The objective to change.' }),
    target: t.float({ required: false, description: TARGET }),
    windowDays: t.int({ required: false, description: `${WINDOW} Null: the calendar month.` }),
    timeZone: t.string({ required: false, description: 'The IANA time zone of calendar months.' }),
    version: t.int(VERSION_READ),
  }),
})

builder.mutationField('updateObjective', (t) =>
  t.field({
    type: Objective,
    description: 'Changes an objective. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: UpdateObjectiveInput }) },
    errors: { types: [Invalid, NotFound, Conflict, ManagedByFile] },
    resolve: (_root, { input }, ctx) => updateObjective(ctx, input),
  }),
)

builder.mutationField('deleteObjective', (t) =>
  t.field({
    type: deletionPayload('Objective'),
    description: 'Deletes an objective. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, ManagedByFile] },
    resolve: (_root, { id }, ctx) => deleteObjective(ctx, id),
  }),
)

const CorrectUptimeInput = builder.inputType('CorrectUptimeInput', {
  description: 'The period to correct.',
  fields: (t) => ({
    serviceId: t.id({ description: 'The service.' }),
    startsAt: t.field({ type: 'DateTime', description: 'When it begins.' }),
    endsAt: t.field({ type: 'DateTime', description: 'When it ends, at most 366 days later.' }),
    kind: t.field({ type: CorrectionKind, description: 'How the period counts.' }),
    reason: t.string({ description: `The reason, which reports show. At most ${MAX_REASON} characters.` }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

builder.mutationField('correctUptime', (t) =>
  t.field({
    type: UptimeCorrection,
    description:
      'Sets how a period of a service counts in objectives and reports. Later corrections take precedence. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: CorrectUptimeInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: createRowResolver('correctUptime', correctUptime),
  }),
)

builder.mutationField('deleteUptimeCorrection', (t) =>
  t.field({
    type: deletionPayload('UptimeCorrection'),
    description: 'Deletes a correction, so that the measurements count again. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => deleteUptimeCorrection(ctx, id),
  }),
)
