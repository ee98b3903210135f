import { Conflict, Invalid, ManagedByFile, NotFound, TierLimitReached } from '../../core/errors.ts'
import { CorrectionKind } from '../../generated/prisma/enums.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { describedInput } from '../../graphql/schema/described-type.ts'
import { createRowResolver, IDEMPOTENCY_KEY } from '../../graphql/schema/idempotent-mutation.ts'
import { correctUptime, deleteUptimeCorrection, MAX_REASON } from '../objective/correction.ts'
import {
  createObjective,
  deleteObjective,
  newObjective,
  objectiveEdit,
  updateObjective,
} from '../objective/objective.ts'
import { builder } from './builder.ts'
import { Objective, UptimeCorrection } from './objective.ts'

builder.mutationField('createObjective', (t) =>
  t.field({
    type: Objective,
    description: 'Creates an objective of a service. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(newObjective, { isCreation: true }) }) },
    errors: { types: [Invalid, NotFound, Conflict, TierLimitReached] },
    resolve: createRowResolver('createObjective', createObjective),
  }),
)

builder.mutationField('updateObjective', (t) =>
  t.field({
    type: Objective,
    description: 'Changes an objective. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(objectiveEdit) }) },
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
