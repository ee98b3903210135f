import { z } from 'zod'
import { tierLimits } from '../../account/limits.ts'
import { requireDeletable, requireUnlocked } from '../../account/managed-object.ts'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { tierOf } from '../../account/tier.ts'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { TierLimitReached } from '../../core/errors.ts'
import { newId, typeOfId } from '../../core/id.ts'
import { changedFields, defined, requireVersion, versionInput } from '../../core/optimistic-lock.ts'
import { type Outcome, onlyResult, outcomeOf, resultsOf, thenAll } from '../../core/outcome.ts'
import { nameText, proseText, validate } from '../../core/validation.ts'
import { insertRows } from '../../database/insert-rows.ts'
import { updateRows } from '../../database/update-rows.ts'
import { change } from '../../event-log/change.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Service } from '../../generated/prisma/client.ts'
import { ServiceStatus } from '../../generated/prisma/enums.ts'
import { findOwned, notFound } from '../ownership.ts'
import { placeAtEnd, reorder } from './positions.ts'
import { findGroupIds } from './service-group.ts'
import { readShownStatuses } from './service-queries.ts'

const newService = z.object({ name: nameText, groupId: z.string().nullish(), description: proseText(2000).nullish() })

/**
 * Creates a service at the end of the page. Requires a key with scope WRITE.
 * @throws Invalid, NotFound for an unknown group, and TierLimitReached.
 */
export async function createService(ctx: Context, input: unknown): Promise<Service> {
  const organizationId = requireScope(ctx, 'WRITE')
  const given = validate(newService, input)
  return change(ctx, organizationId, async (tx) => {
    const service = onlyResult(await insertServices(tx, organizationId, [given]))
    return [service, created(service)]
  })
}

/** Creates services like `createService`, with a few statements for all. Returns the outcome of each input. */
export async function createServices(ctx: Context, inputs: readonly unknown[]): Promise<Outcome<Service>[]> {
  const organizationId = requireScope(ctx, 'WRITE')
  const given = inputs.map((input) => outcomeOf(() => validate(newService, input)))
  return change(ctx, organizationId, async (tx) => {
    const made = await thenAll(given, (valid) => insertServices(tx, organizationId, valid))
    return [made, ...resultsOf(made).map(created)]
  })
}

async function insertServices(
  tx: Context,
  organizationId: string,
  given: readonly z.output<typeof newService>[],
): Promise<Outcome<Service>[]> {
  const groups = await findGroupIds(
    tx,
    organizationId,
    given.flatMap(({ groupId }) => groupId ?? []),
  )
  const tier = await tierOf(tx, organizationId)
  const { count, next } = await placeAtEnd(tx, 'Service', organizationId)
  const limit = tierLimits[tier].services
  let made = 0
  const outcomes = given.map(({ name, groupId = null, description }): Outcome<Service> => {
    if (groupId !== null && !groups.has(groupId)) return notFound('ServiceGroup')
    if (count + made >= limit)
      return new TierLimitReached(`The ${tier} tier allows ${limit} services, and all are in use.`, limit)
    const data = { organizationId, name, groupId, description: description ?? '', createdAt: tx.now() }
    return { id: newId('Service'), ...data, position: next + made++, statusOverride: null, version: 1 }
  })
  await insertRows(tx.db, 'Service', resultsOf(outcomes))
  return outcomes
}

const serviceEdit = z.object({
  id: z.string(),
  name: nameText.optional(),
  groupId: z.string().nullish(),
  description: proseText(2000).optional(),
  statusOverride: z.enum(ServiceStatus).nullish(),
  version: versionInput,
})

/**
 * Updates the given fields of a service. A `groupId` of null removes it from its group; a `statusOverride` of null
 * removes the override. Requires a key with scope WRITE.
 * @throws Invalid, NotFound, Conflict when it was changed after the given version, and ManagedByFile.
 */
export async function updateService(ctx: Context, input: unknown): Promise<Service> {
  const organizationId = requireScope(ctx, 'WRITE')
  const given = validate(serviceEdit, input)
  return change(ctx, organizationId, async (tx) => {
    const [edited, ...events] = await editServices(tx, organizationId, [given])
    return [onlyResult(edited), ...events]
  })
}

/**
 * Updates services like `updateService`, with a few statements for all.
 * @throws its error for the first that is refused.
 */
export async function updateServices(ctx: Context, inputs: readonly unknown[]): Promise<void> {
  const organizationId = requireScope(ctx, 'WRITE')
  const given = inputs.map((input) => validate(serviceEdit, input))
  await change(ctx, organizationId, (tx) => editServices(tx, organizationId, given))
}

/** Returns the updated services, and the events. */
async function editServices(
  tx: Context,
  organizationId: string,
  given: readonly z.output<typeof serviceEdit>[],
): Promise<[Service[], ...NewEvent[]]> {
  const known = await readServices(tx, organizationId, given)
  const groups = await findGroupIds(
    tx,
    organizationId,
    given.flatMap(({ groupId }) => groupId ?? []),
  )
  const edited: Service[] = []
  const overridden: string[] = []
  const services: Service[] = []
  for (const { id, version, ...fields } of given) {
    const before = known.get(id)
    if (before === undefined) throw notFound('Service')
    requireVersion(before, version)
    const changed = changedFields(before, fields)
    if (changed.length > 0) {
      if (typeof fields.groupId === 'string' && !groups.has(fields.groupId)) throw notFound('ServiceGroup')
      await requireUnlocked(tx, organizationId, id, changed)
      edited.push({ ...before, ...defined(fields), version: before.version + 1 })
      if (changed.includes('statusOverride')) overridden.push(id)
    }
    services.push(changed.length > 0 ? (edited.at(-1) ?? before) : before)
  }
  const rows = edited.map(({ id, name, groupId, description, statusOverride }) => {
    return { id, name, groupId, description, statusOverride }
  })
  const before = await shownStatuses(tx, overridden)
  await updateRows(tx.db, 'Service', rows)
  const after = await shownStatuses(tx, overridden)
  const events = edited.flatMap((service): NewEvent[] => {
    const hasNewStatus = before.get(service.id) !== after.get(service.id)
    const updated = { kind: 'SERVICE_UPDATED', ...subject(service) } as const
    return hasNewStatus ? [updated, { kind: 'SERVICE_STATUS_CHANGED', ...subject(service) }] : [updated]
  })
  return [services, ...events]
}

/** Returns the shown status of each of these services. */
async function shownStatuses(tx: Context, ids: readonly string[]): Promise<ReadonlyMap<string, ServiceStatus>> {
  const services = ids.length === 0 ? [] : await readShownStatuses(tx, { id: { in: [...ids] } })
  return new Map(services.map(({ id, status }) => [id, status]))
}

async function readServices({ db }: Context, organizationId: string, given: readonly { readonly id: string }[]) {
  const ids = given.map(({ id }) => id).filter((id) => typeOfId(id) === 'Service')
  const services = await db.service.findMany({ where: { organizationId, id: { in: ids } } })
  return new Map(services.map((service) => [service.id, service]))
}

/**
 * Deletes a service, also from incidents and maintenance, and returns it. Requires a key with scope WRITE.
 * @throws NotFound and ManagedByFile.
 */
export async function deleteService(ctx: Context, id: string): Promise<Service> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const service = await findService(tx, organizationId, id)
    await requireDeletable(tx, organizationId, id)
    await tx.db.service.delete({ where: { id } })
    return [service, { kind: 'SERVICE_DELETED', ...subject(service) }]
  })
}

/**
 * Puts the services into the order of `ids`, across groups, and returns them. Requires a key with scope WRITE.
 * @throws Invalid unless `ids` names every service once. @throws NotFound for other ids.
 */
export async function reorderServices(ctx: Context, input: unknown): Promise<Service[]> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const isMoved = await reorder(tx, 'Service', organizationId, input)
    const { name } = await readOrganization(tx, organizationId)
    const services = await tx.db.service.findMany({ where: { organizationId }, orderBy: { position: 'asc' } })
    if (!isMoved) return [services]
    return [services, { kind: 'SERVICES_REORDERED', subjectId: organizationId, subjectName: name }]
  })
}

/**
 * Reads a service of the organization.
 * @throws NotFound.
 */
export function findService({ db }: Context, organizationId: string, id: string): Promise<Service> {
  return findOwned('Service', id, (known) => db.service.findUnique({ where: { id: known, organizationId } }))
}

const created = (service: Pick<Service, 'id' | 'name'>): NewEvent => ({ kind: 'SERVICE_CREATED', ...subject(service) })
const subject = ({ id, name }: Pick<Service, 'id' | 'name'>) => ({ subjectId: id, subjectName: name })
