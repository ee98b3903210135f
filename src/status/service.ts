import { z } from 'zod'
import { requireScope } from '../account/access.ts'
import { tierLimits } from '../account/plan.ts'
import { tierOf } from '../account/tier.ts'
import type { Context } from '../context.ts'
import { TierLimitReached } from '../errors.ts'
import { change } from '../eventlog/change.ts'
import type { Service } from '../generated/prisma/client.ts'
import { ServiceStatus } from '../generated/prisma/enums.ts'
import { newId } from '../id.ts'
import { nameText, proseText, validate } from '../validate.ts'
import { alters, readVersion, requireVersion } from '../version.ts'
import { own } from './guard.ts'
import { nextPosition, putInOrder } from './order.ts'
import { ownGroup } from './service-group.ts'

const newService = z.object({ name: nameText, groupId: z.string().nullish(), description: proseText(2000).nullish() })

/**
 * Adds a service at the end of the page. Needs a key with scope WRITE.
 * @throws Invalid, NotFound for a group the organization does not have, and TierLimitReached when its tier allows no more.
 */
export async function createService(ctx: Context, input: unknown): Promise<Service> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { name, groupId = null, description } = validate(newService, input)
  return change(ctx, organizationId, async (tx) => {
    if (groupId !== null) await ownGroup(tx, organizationId, groupId)
    const count = await tx.db.service.count({ where: { organizationId } })
    const tier = await tierOf(tx, organizationId)
    const limit = tierLimits[tier].services
    if (count >= limit) throw new TierLimitReached(`The tier ${tier} has ${limit} services, and all are used.`, limit)
    const position = await nextPosition(tx, 'Service', organizationId)
    const data = { organizationId, name, groupId, description: description ?? '', position, createdAt: tx.now() }
    const service = await tx.db.service.create({ data: { id: newId('Service'), ...data } })
    return [service, { kind: 'SERVICE_CREATED', ...subject(service) }]
  })
}

const serviceEdit = z.object({
  id: z.string(),
  name: nameText.optional(),
  groupId: z.string().nullish(),
  description: proseText(2000).optional(),
  statusOverride: z.enum(ServiceStatus).nullish(),
  version: readVersion,
})

/**
 * Changes what is given of a service; a `groupId` of null takes it out of its group, a `statusOverride` of null lets
 * its status follow from what happens again. Needs a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict when it was changed after the given version.
 */
export async function updateService(ctx: Context, input: unknown): Promise<Service> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, version, ...fields } = validate(serviceEdit, input)
  return change(ctx, organizationId, async (tx) => {
    const before = await ownService(tx, organizationId, id)
    requireVersion(before, version)
    if (!alters(before, fields)) return [before]
    if (typeof fields.groupId === 'string') await ownGroup(tx, organizationId, fields.groupId)
    const service = await tx.db.service.update({ where: { id }, data: { ...fields, version: { increment: 1 } } })
    return [service, { kind: 'SERVICE_UPDATED', ...subject(service) }]
  })
}

/**
 * Deletes a service, also from the incidents and maintenance that name it. Gives what it was. Needs a key with scope
 * WRITE. @throws NotFound when the organization has no such service.
 */
export async function deleteService(ctx: Context, id: string): Promise<Service> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const service = await ownService(tx, organizationId, id)
    await tx.db.service.delete({ where: { id } })
    return [service, { kind: 'SERVICE_DELETED', ...subject(service) }]
  })
}

/**
 * Puts the services in the order of `ids`, across groups, and gives them so. Needs a key with scope WRITE.
 * @throws Invalid unless `ids` names every service once. @throws NotFound when it names anything else.
 */
export async function reorderServices(ctx: Context, input: unknown): Promise<Service[]> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const isMoved = await putInOrder(tx, 'Service', organizationId, input)
    const { name } = await tx.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
    const services = await tx.db.service.findMany({ where: { organizationId }, orderBy: { position: 'asc' } })
    if (!isMoved) return [services]
    return [services, { kind: 'SERVICES_REORDERED', subjectId: organizationId, subjectName: name }]
  })
}

function ownService({ db }: Context, organizationId: string, id: string): Promise<Service> {
  return own('Service', id, (known) => db.service.findUnique({ where: { id: known, organizationId } }))
}

const subject = ({ id, name }: Service) => ({ subjectId: id, subjectName: name })
