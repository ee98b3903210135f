import { Conflict, Invalid, ManagedByFile, NotFound, TierLimitReached } from '../../core/errors.ts'
import type { Service as ServiceRow } from '../../generated/prisma/client.ts'
import { ServiceStatus } from '../../generated/prisma/enums.ts'
import { rows, text } from '../../graphql/document/cost.ts'
import { cacheable } from '../../graphql/execution/cacheable.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { describedInput } from '../../graphql/schema/described-type.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { createRowResolver } from '../../graphql/schema/idempotent-mutation.ts'
import { ownerOnly } from '../../graphql/schema/owner-only.ts'
import { VERSION } from '../../graphql/schema/version.ts'
import { MAX_SERVICES } from '../ownership.ts'
import {
  createService,
  deleteService,
  newService,
  reorderServices,
  serviceEdit,
  updateService,
} from '../service/service.ts'
import { readServiceOrder } from '../service/service-queries.ts'
import type { StatusBasis } from '../service/service-status.ts'
import { shownServiceOf, statusCausesSelect } from '../service/shown-status.ts'
import { builder, bulkCreation, bulkMutation, bulkMutationOfIds } from './builder.ts'
import { pagePositionLoader } from './connections.ts'
import { pageAbove } from './page-scope.ts'

const StatusBasisRef = builder.enumType('StatusBasis', {
  description: 'The source of a service’s status.',
  values: describedValues<StatusBasis>({
    MONITORS: 'Its monitors, with open incidents and maintenance.',
    OWNER: 'Its owner, who stated it: it has no monitors, or a status that overrides them.',
    PENDING: 'None yet: its monitors have no results.',
    SILENT: 'None: the states of its monitors are unknown, or they are paused.',
    UNSTATED: 'None yet: it has no monitors, and nobody has stated a status.',
  }),
})

const positionOf = pagePositionLoader(readServiceOrder)

/** The public fields of a service. */
export const Service = builder.prismaNode('Service', {
  id: { field: 'id' },
  nullable: true,
  description: 'A service on an organization’s status page.',
  extensions: cacheable('id', 'name', 'description', 'groupId', 'position', 'status', 'basis', 'unknownSince'),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    description: t.exposeString('description', {
      extensions: text(2000),
      description: 'A sentence for visitors. Empty: none.',
    }),
    groupId: t.exposeID('groupId', { nullable: true, description: 'The id of its group. Null: none.' }),
    position: t.int({
      description: 'Its position among the services of the page, from 0.',
      resolve: (service, _args, ctx, info) => {
        const place = pageAbove(info.path)?.serviceIds?.indexOf(service.id) ?? -1
        return place === -1 ? positionOf(ctx, service) : place
      },
    }),
    status: t.field({
      type: ServiceStatus,
      description:
        'The shown status: the override if set, otherwise the worst of manual open incidents and monitor states. During maintenance, UNDER_MAINTENANCE replaces the monitor states. If its status is unknown (`basis` is PENDING, SILENT or UNSTATED) and nothing worse is known, it is DEGRADED_PERFORMANCE, never OPERATIONAL.',
      select: statusCausesSelect,
      resolve: (service) => shownServiceOf(service).status,
    }),
    basis: t.field({
      type: StatusBasisRef,
      description: 'The source of its status.',
      select: statusCausesSelect,
      resolve: (service) => shownServiceOf(service).basis,
    }),
    unknownSince: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'When the last of its monitors became unknown or was paused. Null: the state of a monitor is known, no monitor has a result yet, or it has none.',
      select: statusCausesSelect,
      resolve: (service) => shownServiceOf(service).unknownSince,
    }),
    statusOverride: t.expose('statusOverride', {
      type: ServiceStatus,
      nullable: true,
      authScopes: ownerOnly,
      description: 'The status set manually. Null: none. Requires a key of the organization.',
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

builder.mutationField('createService', (t) =>
  t.field({
    type: Service,
    description: 'Creates a service at the end of the page. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(newService, { isCreation: true }) }) },
    errors: { types: [Invalid, NotFound, Conflict, TierLimitReached] },
    resolve: createRowResolver('createService', createService),
  }),
)

builder.mutationField('updateService', (t) =>
  t.field({
    type: Service,
    description: 'Updates a service. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(serviceEdit) }) },
    errors: { types: [Invalid, NotFound, Conflict, ManagedByFile] },
    resolve: (_root, { input }, ctx) => updateService(ctx, input),
  }),
)

const DeleteServicePayload = deletionPayload('Service')

builder.mutationField('deleteService', (t) =>
  t.field({
    type: DeleteServicePayload,
    description:
      'Deletes a service and removes it from all incidents and maintenance. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, ManagedByFile] },
    resolve: async (_root, { id }, ctx) => deleteService(ctx, id),
  }),
)

const ReorderServicesInput = builder.inputType('ReorderServicesInput', {
  description: 'The order of the services.',
  fields: (t) => ({ ids: t.idList({ description: 'The ids of all services, in the new order.' }) }),
})

const ReorderServicesPayload = builder
  .objectRef<{ readonly services: readonly ServiceRow[] }>('ReorderServicesPayload')
  .implement({
    description: 'The services in their new order.',
    fields: (t) => ({
      services: t.expose('services', {
        type: [Service],
        extensions: rows(MAX_SERVICES, 'services'),
        description: 'The services in their new order.',
      }),
    }),
  })

builder.mutationField('reorderServices', (t) =>
  t.field({
    type: ReorderServicesPayload,
    description: 'Reorders the services. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: ReorderServicesInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: async (_root, { input }, ctx) => ({ services: await reorderServices(ctx, input) }),
  }),
)

bulkCreation('createServices', describedInput(newService, { isCreation: true }), {
  type: Service,
  description: 'Creates up to 100 services at the end of the page. Requires a key with scope WRITE.',
  errors: [Invalid, NotFound, TierLimitReached],
  work: createService,
})

bulkMutation('updateServices', describedInput(serviceEdit), {
  type: Service,
  description: 'Updates up to 100 services. Requires a key with scope WRITE.',
  errors: [Invalid, NotFound, ManagedByFile],
  work: updateService,
})

bulkMutationOfIds('deleteServices', {
  type: DeleteServicePayload,
  description: 'Deletes up to 100 services. Requires a key with scope WRITE.',
  errors: [NotFound, ManagedByFile],
  work: deleteService,
})
