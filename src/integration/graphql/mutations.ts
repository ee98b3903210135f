import { Conflict, Invalid, NotFound, TierLimitReached } from '../../core/errors.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { describedInput } from '../../graphql/schema/described-type.ts'
import {
  createIntegration,
  deleteIntegration,
  integrationEdit,
  newIntegration,
  rotateIntegration,
  updateIntegration,
} from '../integration.ts'
import { builder } from './builder.ts'
import { Integration } from './integration.ts'

builder.mutationField('createIntegration', (t) =>
  t.field({
    type: Integration,
    description: 'Creates an integration. Its URL is shown once. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(newIntegration) }) },
    errors: { types: [Invalid, NotFound, TierLimitReached] },
    resolve: (_root, { input }, ctx) => createIntegration(ctx, input),
  }),
)

builder.mutationField('updateIntegration', (t) =>
  t.field({
    type: Integration,
    description: 'Updates an integration. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(integrationEdit) }) },
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
