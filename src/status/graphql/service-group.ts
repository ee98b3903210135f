import { Conflict, Invalid, ManagedByFile, NotFound, TierLimitReached } from '../../core/errors.ts'
import type { ServiceGroup as ServiceGroupRow } from '../../generated/prisma/client.ts'
import { rows, text } from '../../graphql/document/cost.ts'
import { cacheable } from '../../graphql/execution/cacheable.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { describedInput } from '../../graphql/schema/described-type.ts'
import { createRowResolver } from '../../graphql/schema/idempotent-mutation.ts'
import { ownerOnly } from '../../graphql/schema/owner-only.ts'
import { VERSION } from '../../graphql/schema/version.ts'
import { MAX_SERVICES } from '../ownership.ts'
import {
  createServiceGroup,
  deleteServiceGroup,
  groupEdit,
  newGroup,
  reorderServiceGroups,
  updateServiceGroup,
} from '../service/service-group.ts'
import { readGroupOrder } from '../service/service-queries.ts'
import { builder } from './builder.ts'
import { inPageOrder, pagePositionLoader } from './connections.ts'

const positionOf = pagePositionLoader(readGroupOrder)

const ServiceGroup = builder.prismaNode('ServiceGroup', {
  id: { field: 'id' },
  nullable: true,
  description: 'A named group of services on the page.',
  extensions: cacheable('id', 'name', 'description', 'position', 'services'),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    description: t.exposeString('description', {
      extensions: text(2000),
      description: 'A sentence for visitors. Empty: none.',
    }),
    position: t.int({
      description: 'Its position among the groups of the page, from 0.',
      resolve: (group, _args, ctx) => positionOf(ctx, group),
    }),
    services: t.relation('services', {
      extensions: rows(MAX_SERVICES, 'servicesOfGroup'),
      description: 'The services of the group, in page order.',
      query: { orderBy: inPageOrder },
    }),
    version: t.exposeInt('version', VERSION),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: true,
      authScopes: ownerOnly,
      description: 'When it was created. Requires a key of the organization.',
    }),
  }),
})

builder.mutationField('createServiceGroup', (t) =>
  t.field({
    type: ServiceGroup,
    description: 'Creates a service group at the end of the page. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(newGroup, { isCreation: true }) }) },
    errors: { types: [Invalid, TierLimitReached, NotFound, Conflict] },
    resolve: createRowResolver('createServiceGroup', createServiceGroup),
  }),
)

builder.mutationField('updateServiceGroup', (t) =>
  t.field({
    type: ServiceGroup,
    description: 'Updates a service group. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(groupEdit) }) },
    errors: { types: [Invalid, NotFound, Conflict, ManagedByFile] },
    resolve: (_root, { input }, ctx) => updateServiceGroup(ctx, input),
  }),
)

builder.mutationField('deleteServiceGroup', (t) =>
  t.field({
    type: deletionPayload('ServiceGroup'),
    description: 'Deletes a service group. Its services stay, without a group. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, ManagedByFile] },
    resolve: (_root, { id }, ctx) => deleteServiceGroup(ctx, id),
  }),
)

const ReorderServiceGroupsInput = builder.inputType('ReorderServiceGroupsInput', {
  description: 'The order of the groups.',
  fields: (t) => ({ ids: t.idList({ description: 'The ids of all groups, in the new order.' }) }),
})

const ReorderServiceGroupsPayload = builder
  .objectRef<{ readonly serviceGroups: readonly ServiceGroupRow[] }>('ReorderServiceGroupsPayload')
  .implement({
    description: 'The groups in their new order.',
    fields: (t) => ({
      serviceGroups: t.expose('serviceGroups', {
        type: [ServiceGroup],
        extensions: rows(MAX_SERVICES, 'serviceGroups'),
        description: 'The groups in their new order.',
      }),
    }),
  })

builder.mutationField('reorderServiceGroups', (t) =>
  t.field({
    type: ReorderServiceGroupsPayload,
    description: 'Reorders the service groups. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: ReorderServiceGroupsInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: async (_root, { input }, ctx) => ({ serviceGroups: await reorderServiceGroups(ctx, input) }),
  }),
)
