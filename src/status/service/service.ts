import { z } from 'zod'
import { tierLimits } from '../../account/limits.ts'
import type { EditContext } from '../../account/managed-object.ts'
import { requireDeletable, requireUnlocked } from '../../account/managed-object.ts'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { tierOf } from '../../account/tier.ts'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { described, idOf, named } from '../../core/described.ts'
import { TierLimitReached } from '../../core/errors.ts'
import { newId, typeOfId } from '../../core/id.ts'
import { changedFields, defined, requireVersion, versionInput } from '../../core/optimistic-lock.ts'
import { type Outcome, onlyResult, outcomeOf, resultsOf, thenAll } from '../../core/outcome.ts'
import { invalid, nameText, proseText, validate } from '../../core/validation.ts'
import { insertRows } from '../../database/insert-rows.ts'
import { updateRows } from '../../database/update-rows.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Service } from '../../generated/prisma/client.ts'
import { ServiceStatus } from '../../generated/prisma/enums.ts'
import { findOwned, notFound } from '../ownership.ts'
import { placeAtEnd, reorder } from './positions.ts'
import { findGroupIds } from './service-group.ts'
import { readShownStatuses } from './service-queries.ts'
import type { ShownStatus } from './service-status.ts'
import { overrideOf } from './statement.ts'

const name = described(nameText, { description: 'The service’s name.' })

/** The input of `createService`. */
export const newService = named(
  z.object({
    name,
    groupId: idOf('The group of the service. Default: none.').nullish(),
    description: described(proseText(2000).nullish(), { description: 'A sentence for visitors. Default: none.' }),
    status: described(z.enum(ServiceStatus).nullish(), {
      description:
        'The status that you state for it. Any but OPERATIONAL becomes its `statusOverride`. Null: none; without monitors, the page then shows that it has no status yet.',
    }),
  }),
  { name: 'CreateService', about: 'The service to create.' },
)

/**
 * Creates a service at the end of the page. With a status, people have stated it; any but OPERATIONAL overrides the
 * computed one. Without, its status is unknown until someone states one or a monitor has a result. Requires a key with
 * scope WRITE.
 * @throws Invalid, NotFound for an unknown group, and TierLimitReached.
 */
export async function createService(ctx: ChangeContext, input: unknown): Promise<Service> {
  const organizationId = requireScope(ctx, 'WRITE')
  const given = validate(newService, input)
  return change(ctx, organizationId, async (tx) => {
    const service = onlyResult(await insertServices(tx, organizationId, [given]))
    return [service, ...created(service)]
  })
}

/** Creates services like `createService`, with a few statements for all. Returns the outcome of each input. */
export async function createServices(ctx: ChangeContext, inputs: readonly unknown[]): Promise<Outcome<Service>[]> {
  const organizationId = requireScope(ctx, 'WRITE')
  const given = inputs.map((input) => outcomeOf(() => validate(newService, input)))
  return change(ctx, organizationId, async (tx) => {
    const made = await thenAll(given, (valid) => insertServices(tx, organizationId, valid))
    return [made, ...resultsOf(made).flatMap(created)]
  })
}

async function insertServices(
  tx: ChangeContext,
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
  const outcomes = given.map(({ name, groupId = null, description, status = null }): Outcome<Service> => {
    if (groupId !== null && !groups.has(groupId)) return notFound('ServiceGroup')
    if (count + made >= limit)
      return new TierLimitReached(`The ${tier} tier allows ${limit} services, and all are in use.`, limit)
    const data = { organizationId, name, groupId, description: description ?? '', createdAt: tx.now() }
    const stated = status === null ? { statusOverride: null, statedAt: null } : stating(tx, status)
    return { id: newId('Service'), ...data, position: next + made++, ...stated, version: 1 }
  })
  await insertRows(tx.db, 'Service', resultsOf(outcomes))
  return outcomes
}

/** Returns the fields of a service whose status someone states now. */
const stating = ({ now }: Context, status: ServiceStatus) => ({ statusOverride: overrideOf(status), statedAt: now() })

/** The input of `updateService`. */
export const serviceEdit = named(
  z.object({
    id: idOf('The service to change.'),
    name: name.optional(),
    groupId: idOf('The group of the service. Null: none.').nullish(),
    description: described(proseText(2000).optional(), { description: 'A sentence for visitors.' }),
    statusOverride: described(z.enum(ServiceStatus).nullish(), {
      description: 'A status that overrides the computed one. Null: no override.',
    }),
    status: described(z.enum(ServiceStatus).nullish(), {
      description:
        'The status that you state for it: OPERATIONAL removes an override, and any other becomes its `statusOverride`, which must not be given too.',
    }),
    version: versionInput,
  }),
  { name: 'UpdateService', about: 'The changes. Omitted fields stay as they are.' },
)

/**
 * Updates the given fields of a service. A `groupId` of null removes it from its group; a `statusOverride` of null
 * removes the override. A `status` states it: OPERATIONAL removes the override, and any other sets one. A changed
 * override is a statement too. Requires a key with scope WRITE.
 * @throws Invalid, NotFound, Conflict when it was changed after the given version, and ManagedByFile.
 */
export async function updateService(ctx: EditContext, input: unknown): Promise<Service> {
  const organizationId = requireScope(ctx, 'WRITE')
  const given = readEdit(input)
  return change(ctx, organizationId, async (tx) => {
    const [edited, ...events] = await editServices(tx, organizationId, [given])
    return [onlyResult(edited), ...events]
  })
}

/**
 * Updates services like `updateService`, with a few statements for all.
 * @throws its error for the first that is refused.
 */
export async function updateServices(ctx: EditContext, inputs: readonly unknown[]): Promise<void> {
  const organizationId = requireScope(ctx, 'WRITE')
  const given = inputs.map(readEdit)
  await change(ctx, organizationId, (tx) => editServices(tx, organizationId, given))
}

type Edit = ReturnType<typeof readEdit>

/** @throws Invalid. */
function readEdit(input: unknown) {
  const { status, ...given } = validate(serviceEdit, input)
  if (status == null) return { ...given, isStatement: false }
  if (given.statusOverride !== undefined)
    throw invalid([{ path: ['status'], message: 'must not be given together with statusOverride' }])
  return { ...given, statusOverride: overrideOf(status), isStatement: true }
}

/** Returns the updated services, and the events. */
async function editServices(
  tx: EditContext,
  organizationId: string,
  given: readonly Edit[],
): Promise<[Service[], ...NewEvent[]]> {
  const known = await readServices(tx, organizationId, given)
  const groups = await findGroupIds(
    tx,
    organizationId,
    given.flatMap(({ groupId }) => groupId ?? []),
  )
  const isMissing = (groupId: string | null | undefined) => typeof groupId === 'string' && !groups.has(groupId)
  const edited: Service[] = []
  const restated: string[] = []
  const services: Service[] = []
  for (const { id, version, isStatement, ...fields } of given) {
    const before = known.get(id)
    if (before === undefined) throw notFound('Service')
    requireVersion(before, version)
    const changed = changedFields(before, fields)
    const isStated = isStatement || changed.includes('statusOverride')
    const statedAt = before.statedAt ?? (isStated ? tx.now() : null)
    if (changed.length === 0 && statedAt === before.statedAt) {
      services.push(before)
      continue
    }
    if (isMissing(fields.groupId)) throw notFound('ServiceGroup')
    await requireUnlocked(tx, organizationId, id, changed)
    const after = { ...before, ...defined(fields), statedAt, version: before.version + 1 }
    edited.push(after)
    services.push(after)
    if (isStated) restated.push(id)
  }
  const rows = edited.map(({ id, name, groupId, description, statusOverride, statedAt }) => {
    return { id, name, groupId, description, statusOverride, statedAt }
  })
  const before = await shownStatuses(tx, restated)
  await updateRows(tx.db, 'Service', rows)
  const after = await shownStatuses(tx, restated)
  const events = edited.flatMap((service): NewEvent[] => {
    const hasNewStatus = before.get(service.id) !== after.get(service.id)
    const updated = { kind: 'SERVICE_UPDATED', ...subject(service) } as const
    return hasNewStatus ? [updated, { kind: 'SERVICE_STATUS_CHANGED', ...subject(service) }] : [updated]
  })
  return [services, ...events]
}

/** Returns the shown status of each of these services. */
async function shownStatuses(tx: EditContext, ids: readonly string[]): Promise<ReadonlyMap<string, ShownStatus>> {
  const services = ids.length === 0 ? [] : await readShownStatuses(tx, { id: { in: [...ids] } })
  return new Map(services.map(({ id, shown }) => [id, shown]))
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
export async function deleteService(ctx: EditContext, id: string): Promise<Service> {
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
export async function reorderServices(ctx: ChangeContext, input: unknown): Promise<Service[]> {
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

/** Returns the events of a new service. Its first status is no news for subscribers. */
function created(service: Service): NewEvent[] {
  const about = subject(service)
  const stated = { kind: 'SERVICE_STATUS_CHANGED', ...about, notifySubscribers: false } as const
  return [{ kind: 'SERVICE_CREATED', ...about }, ...(service.statedAt === null ? [] : [stated])]
}

const subject = ({ id, name }: Pick<Service, 'id' | 'name'>) => ({ subjectId: id, subjectName: name })
