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
import { changedFields, requireVersion, versionInput } from '../../core/optimistic-lock.ts'
import { nameText, proseText, validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { ServiceGroup } from '../../generated/prisma/client.ts'
import { findOwned } from '../ownership.ts'
import { placeAtEnd, reorder } from './positions.ts'

const name = described(nameText, { description: 'The group’s name.' })

/** The input of `createServiceGroup`. */
export const newGroup = named(
  z.object({
    name,
    description: described(proseText(2000).nullish(), { description: 'A sentence for visitors. Default: none.' }),
  }),
  { name: 'CreateServiceGroup', about: 'The group to create.' },
)

/**
 * Creates a group at the end of the page. Requires a key with scope WRITE.
 * @throws Invalid, and TierLimitReached when there are as many groups as the tier allows services, because more would
 * stay empty.
 */
export async function createServiceGroup(ctx: ChangeContext, input: unknown): Promise<ServiceGroup> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { name, description } = validate(newGroup, input)
  return change(ctx, organizationId, async (tx) => {
    const { db, now } = tx
    const count = await db.serviceGroup.count({ where: { organizationId } })
    const tier = await tierOf(tx, organizationId)
    const limit = tierLimits[tier].services
    if (count >= limit)
      throw new TierLimitReached(`The ${tier} tier allows ${limit} service groups, and all are in use.`, limit)
    const { next: position } = await placeAtEnd(tx, 'ServiceGroup', organizationId)
    const data = { organizationId, name, description: description ?? '', position, createdAt: now() }
    const group = await db.serviceGroup.create({ data: { id: newId('ServiceGroup'), ...data } })
    return [group, { kind: 'SERVICE_GROUP_CREATED', ...subject(group) }]
  })
}

/** The input of `updateServiceGroup`. */
export const groupEdit = named(
  z.object({
    id: idOf('The group to change.'),
    name: name.optional(),
    description: described(proseText(2000).optional(), { description: 'A sentence for visitors.' }),
    version: versionInput,
  }),
  { name: 'UpdateServiceGroup', about: 'The changes. Omitted fields stay as they are.' },
)

/**
 * Updates the given fields of a group. Requires a key with scope WRITE.
 * @throws Invalid, NotFound, Conflict when it was changed after the given version, and ManagedByFile.
 */
export async function updateServiceGroup(ctx: EditContext, input: unknown): Promise<ServiceGroup> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, version, ...fields } = validate(groupEdit, input)
  return change(ctx, organizationId, async (tx) => {
    const before = await findGroup(tx, organizationId, id)
    requireVersion(before, version)
    const changed = changedFields(before, fields)
    if (changed.length === 0) return [before]
    await requireUnlocked(tx, organizationId, id, changed)
    const group = await tx.db.serviceGroup.update({ where: { id }, data: { ...fields, version: { increment: 1 } } })
    return [group, { kind: 'SERVICE_GROUP_UPDATED', ...subject(group) }]
  })
}

/**
 * Deletes a group and returns it; its services stay, without a group. Requires a key with scope WRITE.
 * @throws NotFound and ManagedByFile.
 */
export async function deleteServiceGroup(ctx: EditContext, id: string): Promise<ServiceGroup> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const group = await findGroup(tx, organizationId, id)
    await requireDeletable(tx, organizationId, id)
    const services = await tx.db.service.findMany({ where: { groupId: id }, select: { id: true } })
    await tx.db.serviceGroup.delete({ where: { id } })
    const serviceIds = services.map((service) => service.id)
    return [group, { kind: 'SERVICE_GROUP_DELETED', ...subject(group), serviceIds }]
  })
}

/**
 * Puts the groups into the order of `ids` and returns them. Requires a key with scope WRITE.
 * @throws Invalid unless `ids` names every group once. @throws NotFound for other ids.
 */
export async function reorderServiceGroups(ctx: ChangeContext, input: unknown): Promise<ServiceGroup[]> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const isMoved = await reorder(tx, 'ServiceGroup', organizationId, input)
    const { name } = await readOrganization(tx, organizationId)
    const groups = await tx.db.serviceGroup.findMany({ where: { organizationId }, orderBy: { position: 'asc' } })
    if (!isMoved) return [groups]
    return [groups, { kind: 'SERVICE_GROUPS_REORDERED', subjectId: organizationId, subjectName: name }]
  })
}

/** Returns the ids that are groups of the organization. */
export async function findGroupIds(
  { db }: Context,
  organizationId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const known = [...new Set(ids)].filter((id) => typeOfId(id) === 'ServiceGroup')
  if (known.length === 0) return new Set()
  const groups = await db.serviceGroup.findMany({ where: { organizationId, id: { in: known } }, select: { id: true } })
  return new Set(groups.map(({ id }) => id))
}

/**
 * Reads a group of the organization.
 * @throws NotFound.
 */
export function findGroup({ db }: Context, organizationId: string, id: string): Promise<ServiceGroup> {
  return findOwned('ServiceGroup', id, (known) => db.serviceGroup.findUnique({ where: { id: known, organizationId } }))
}

const subject = ({ id, name }: ServiceGroup) => ({ subjectId: id, subjectName: name })
