import { requireOperator } from '../../core/access.ts'
import { Invalid, NotFound } from '../../core/errors.ts'
import { costs, STATEMENT_COST } from '../../graphql/document/cost.ts'
import type { PrivateTargets as Permission } from '../private-targets/permission.ts'
import { isAllowed, readPrivateTargets, setPrivateTargets } from '../private-targets/permission.ts'
import { builder } from './builder.ts'

const PrivateTargets = builder.objectRef<Permission>('PrivateTargets').implement({
  description:
    'Whether targets in private networks, this machine included, may be reached. Link-local addresses and metadata services of clouds never are.',
  fields: (t) => ({
    allowed: t.boolean({
      description: 'Whether they are allowed, for any of the reasons below.',
      resolve: isAllowed,
    }),
    forOrganization: t.exposeBoolean('forOrganization', {
      description: 'Whether the operator allows them for the organization. False where none is asked about.',
    }),
    forAll: t.exposeBoolean('forAll', { description: 'Whether the operator allows them for all organizations.' }),
    byEnvironment: t.exposeBoolean('byEnvironment', {
      description: 'Whether `ALLOW_PRIVATE_NETWORKS` allows them for all. Only a restart without it changes that.',
    }),
  }),
})

builder.prismaObjectField('Organization', 'privateTargets', (t) =>
  t.field({
    type: PrivateTargets,
    description: 'Whether its monitors, webhooks and alerts may reach private networks.',
    extensions: costs({ itself: STATEMENT_COST }),
    resolve: ({ id }, _args, ctx) => readPrivateTargets(ctx, id),
  }),
)

builder.queryField('privateTargets', (t) =>
  t.field({
    type: PrivateTargets,
    description: 'Whether all organizations may reach private networks. Operator only.',
    extensions: costs({ itself: STATEMENT_COST }),
    resolve: (_root, _args, ctx) => {
      requireOperator(ctx)
      return readPrivateTargets(ctx, null)
    },
  }),
)

const SetPrivateTargetsInput = builder.inputType('SetPrivateTargetsInput', {
  description: 'Whether to allow private targets, and for whom.',
  fields: (t) => ({
    organizationId: t.id({ required: false, description: 'The organization. Null or omitted: all organizations.' }),
    allowed: t.boolean({ description: 'True allows them, false withdraws this permission and leaves others.' }),
  }),
})

builder.mutationField('setPrivateTargets', (t) =>
  t.field({
    type: PrivateTargets,
    description:
      'Allows or withdraws targets in private networks, at once on every instance and in every region. Monitors whose targets are no longer allowed become unknown. Operator only.',
    args: { input: t.arg({ type: SetPrivateTargetsInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: (_root, { input }, ctx) => setPrivateTargets(ctx, input),
  }),
)
