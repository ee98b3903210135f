import { Conflict, Invalid, NotFound, TierLimitReached } from '../../errors.ts'
import type { ServiceGroup as ServiceGroupRow } from '../../generated/prisma/client.ts'
import { builder } from '../../graphql/builder.ts'
import { costs } from '../../graphql/cost.ts'
import { deletionOf } from '../../graphql/deletion.ts'
import { creatingRow, IDEMPOTENCY_KEY } from '../../graphql/once.ts'
import { ownerOnly } from '../../graphql/owner.ts'
import { createServiceGroup, deleteServiceGroup, reorderServiceGroups, updateServiceGroup } from '../service-group.ts'
import { inPageOrder, placesIn } from './lists.ts'

const placeOf = placesIn(({ db }, organizationIds) =>
  db.serviceGroup.findMany({
    where: { organizationId: { in: organizationIds } },
    select: { id: true, organizationId: true },
    orderBy: inPageOrder,
  }),
)

const ServiceGroup = builder.prismaNode('ServiceGroup', {
  id: { field: 'id' },
  nullable: true,
  description: 'Services that stand together on the page, under a name.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    description: t.exposeString('description', { description: 'A sentence for visitors; empty: none.' }),
    position: t.int({
      description: 'Its place among the groups of the page, from 0.',
      resolve: (group, _args, ctx) => placeOf(ctx, group),
    }),
    services: t.relation('services', {
      extensions: costs({ items: 5 }),
      description: 'In the order of the page.',
      query: { orderBy: inPageOrder },
    }),
    version: t.exposeInt('version', {
      nullable: true,
      authScopes: ownerOnly,
      description: 'Raised by every edit. Needs a key of the organization.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: true,
      authScopes: ownerOnly,
      description: 'Needs a key of the organization.',
    }),
  }),
})

const CreateServiceGroupInput = builder.inputType('CreateServiceGroupInput', {
  description: 'The group to create.',
  fields: (t) => ({
    name: t.string({ description: 'The group’s name.' }),
    description: t.string({ required: false, description: 'A sentence for visitors; absent: none.' }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

builder.mutationField('createServiceGroup', (t) =>
  t.field({
    type: ServiceGroup,
    description: 'Adds a group at the end of the page. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: CreateServiceGroupInput }) },
    errors: { types: [Invalid, TierLimitReached, NotFound, Conflict] },
    resolve: creatingRow('createServiceGroup', createServiceGroup),
  }),
)

const UpdateServiceGroupInput = builder.inputType('UpdateServiceGroupInput', {
  description: 'What is left out stays as it is.',
  fields: (t) => ({
    id: t.id({ description: 'The group to change.' }),
    name: t.string({ required: false, description: 'The group’s name.' }),
    description: t.string({ required: false, description: 'A sentence for visitors.' }),
    version: t.int({ required: false, description: 'The version that was read: a newer one makes a conflict.' }),
  }),
})

builder.mutationField('updateServiceGroup', (t) =>
  t.field({
    type: ServiceGroup,
    description: 'Changes a group. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: UpdateServiceGroupInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => updateServiceGroup(ctx, input),
  }),
)

builder.mutationField('deleteServiceGroup', (t) =>
  t.field({
    type: deletionOf('ServiceGroup'),
    description: 'Takes a group off the page; its services stay, in no group. Needs a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => deleteServiceGroup(ctx, id),
  }),
)

const ReorderServiceGroupsInput = builder.inputType('ReorderServiceGroupsInput', {
  description: 'The order of the groups.',
  fields: (t) => ({ ids: t.idList({ description: 'Every group, in the order wanted.' }) }),
})

const ReorderServiceGroupsPayload = builder
  .objectRef<{ readonly serviceGroups: readonly ServiceGroupRow[] }>('ReorderServiceGroupsPayload')
  .implement({
    description: 'The groups in their new order.',
    fields: (t) => ({
      serviceGroups: t.expose('serviceGroups', { type: [ServiceGroup], description: 'The groups in their new order.' }),
    }),
  })

builder.mutationField('reorderServiceGroups', (t) =>
  t.field({
    type: ReorderServiceGroupsPayload,
    description: 'Puts the groups in an order. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: ReorderServiceGroupsInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: async (_root, { input }, ctx) => ({ serviceGroups: await reorderServiceGroups(ctx, input) }),
  }),
)
