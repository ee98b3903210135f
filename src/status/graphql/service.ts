import { Conflict, Invalid, NotFound, TierLimitReached } from '../../errors.ts'
import type { Service as ServiceRow } from '../../generated/prisma/client.ts'
import { ServiceStatus } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { bulkCreation, bulkMutation, bulkMutationOfIds } from '../../graphql/bulk.ts'
import { deletionOf } from '../../graphql/deletion.ts'
import { creatingRow, IDEMPOTENCY_KEY } from '../../graphql/once.ts'
import { ownerOnly } from '../../graphql/owner.ts'
import { createService, deleteService, reorderServices, updateService } from '../service.ts'
import { causesOfStatus, shownBy } from '../shown-status.ts'
import { inPageOrder, placesIn } from './lists.ts'

const placeOf = placesIn(({ db }, organizationIds) =>
  db.service.findMany({
    where: { organizationId: { in: organizationIds } },
    select: { id: true, organizationId: true },
    orderBy: inPageOrder,
  }),
)

/** A service, as everybody sees it. */
export const Service = builder.prismaNode('Service', {
  id: { field: 'id' },
  nullable: true,
  description: 'Something an organization runs and its visitors rely on.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    description: t.exposeString('description', { description: 'A sentence for visitors; empty: none.' }),
    groupId: t.exposeID('groupId', { nullable: true, description: 'The group it stands in; null: none.' }),
    position: t.int({
      description: 'Its place among the services of the page, from 0.',
      resolve: (service, _args, ctx) => placeOf(ctx, service),
    }),
    status: t.field({
      type: ServiceStatus,
      description:
        'The status it shows: its owner’s override, else the worst of the open incidents of people and, unless maintenance runs (then UNDER_MAINTENANCE), of what its monitors find. When nothing is known by them (`unknownSince`) and nothing worse is said, DEGRADED_PERFORMANCE, never OPERATIONAL.',
      select: causesOfStatus,
      resolve: (service) => shownBy(service).status,
    }),
    unknownSince: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Since when its monitors know nothing; null: one of them knows something, or none runs.',
      select: causesOfStatus,
      resolve: (service) => shownBy(service).unknownSince,
    }),
    statusOverride: t.expose('statusOverride', {
      type: ServiceStatus,
      nullable: true,
      authScopes: ownerOnly,
      description: 'The status set by hand; null: none. Needs a key of the organization.',
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

const CreateServiceInput = builder.inputType('CreateServiceInput', {
  description: 'The service to create.',
  fields: (t) => ({
    name: t.string({ description: 'The service’s name.' }),
    groupId: t.id({ required: false, description: 'The group to put it in; absent: none.' }),
    description: t.string({ required: false, description: 'A sentence for visitors; absent: none.' }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

builder.mutationField('createService', (t) =>
  t.field({
    type: Service,
    description: 'Adds a service at the end of the page. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: CreateServiceInput }) },
    errors: { types: [Invalid, NotFound, Conflict, TierLimitReached] },
    resolve: creatingRow('createService', createService),
  }),
)

const UpdateServiceInput = builder.inputType('UpdateServiceInput', {
  description: 'What is left out stays as it is.',
  fields: (t) => ({
    id: t.id({ description: 'The service to change.' }),
    name: t.string({ required: false, description: 'The service’s name.' }),
    groupId: t.id({ required: false, description: 'Null takes it out of its group.' }),
    description: t.string({ required: false, description: 'A sentence for visitors.' }),
    statusOverride: t.field({
      type: ServiceStatus,
      required: false,
      description: 'Shown whatever happens; null ends that.',
    }),
    version: t.int({ required: false, description: 'The version that was read: a newer one makes a conflict.' }),
  }),
})

builder.mutationField('updateService', (t) =>
  t.field({
    type: Service,
    description: 'Changes a service. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: UpdateServiceInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => updateService(ctx, input),
  }),
)

const DeleteServicePayload = deletionOf('Service')

builder.mutationField('deleteService', (t) =>
  t.field({
    type: DeleteServicePayload,
    description:
      'Takes a service off the page, out of every incident and maintenance as well. Needs a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: async (_root, { id }, ctx) => deleteService(ctx, id),
  }),
)

const ReorderServicesInput = builder.inputType('ReorderServicesInput', {
  description: 'The order of the services.',
  fields: (t) => ({ ids: t.idList({ description: 'Every service, in the order wanted.' }) }),
})

const ReorderServicesPayload = builder
  .objectRef<{ readonly services: readonly ServiceRow[] }>('ReorderServicesPayload')
  .implement({
    description: 'The services in their new order.',
    fields: (t) => ({
      services: t.expose('services', { type: [Service], description: 'The services in their new order.' }),
    }),
  })

builder.mutationField('reorderServices', (t) =>
  t.field({
    type: ReorderServicesPayload,
    description: 'Puts the services in an order. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: ReorderServicesInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: async (_root, { input }, ctx) => ({ services: await reorderServices(ctx, input) }),
  }),
)

bulkCreation('createServices', CreateServiceInput, {
  type: Service,
  description: 'Adds up to 100 services at the end of the page. Needs a key with scope WRITE.',
  errors: [Invalid, NotFound, TierLimitReached],
  work: createService,
})

bulkMutation('updateServices', UpdateServiceInput, {
  type: Service,
  description: 'Changes up to 100 services. Needs a key with scope WRITE.',
  errors: [Invalid, NotFound],
  work: updateService,
})

bulkMutationOfIds('deleteServices', {
  type: DeleteServicePayload,
  description: 'Deletes up to 100 services. Needs a key with scope WRITE.',
  errors: [NotFound],
  work: deleteService,
})
