import { z } from 'zod'
import { requireConfirmation, requireOperator, requireOwnerOrKey, requireOwnOrganization } from '../../core/access.ts'
import type { Actor, Context } from '../../core/context.ts'
import { Conflict, NotFound } from '../../core/errors.ts'
import { typeOfId } from '../../core/id.ts'
import { DAY } from '../../core/time.ts'
import { invalid, validate } from '../../core/validation.ts'
import type { ChangeContext, ChangeResult } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import { REVOKED_KEY_NOTIFICATION } from '../api-key/api-key.ts'
import type { KeyCache } from '../api-key/known-keys.ts'
import { organizationData } from './organization-data.ts'

/** How long a deleted organization can be restored. */
export const GRACE = 7 * DAY

/** Returns a filter for the organizations that a caller can see. The operator sees all; others see those not deleted. */
export function visibleTo(actor: Actor): { readonly deletedAt?: null } {
  return actor.kind === 'operator' ? {} : { deletedAt: null }
}

/** Returns which of these organizations are deleted. */
export async function deletedAmong({ db }: Pick<Context, 'db'>, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const where = { id: { in: [...new Set(ids)] }, deletedAt: { not: null } }
  const found = await db.organization.findMany({ where, select: { id: true } })
  return new Set(found.map(({ id }) => id))
}

/** Returns when a deleted organization is erased and can no longer be restored; null: it is not deleted. */
export function deletionAt({ deletedAt }: Pick<Organization, 'deletedAt'>): Date | null {
  return deletedAt && new Date(deletedAt.getTime() + GRACE)
}

const deletionInput = z.object({ id: z.string(), slug: z.string() })

/**
 * Deletes the caller's organization. It can no longer be found, and its keys stop working. For seven days the operator can restore
 * it. Deleting it twice changes nothing. Requires an owner, the operator, or a key with scope ADMIN.
 * @throws NotFound for another organization's id. @throws Invalid when the slug does not match.
 */
export async function deleteOrganization(ctx: ChangeContext & KeyCache, input: unknown): Promise<Organization> {
  const id = requireOwnerOrKey(ctx)
  requireConfirmation(ctx)
  const { id: named, slug } = validate(deletionInput, input)
  requireOwnOrganization(named, id)
  const deletion = change(ctx, id, async ({ db, now }): Promise<ChangeResult<Organization>> => {
    const before = await db.organization.findUniqueOrThrow({ where: { id } })
    if (before.slug !== slug) throw invalid([{ path: ['slug'], message: 'must be the slug of the organization' }])
    if (before.deletedAt !== null) return [before]
    const deletedAt = now()
    const data = { deletedAt, erasureDueAt: new Date(deletedAt.getTime() + GRACE) }
    const organization = await db.organization.update({ where: { id }, data })
    for (const { stop } of organizationData.get()) await stop?.(db, organization, deletedAt)
    await db.$executeRaw`SELECT pg_notify(${REVOKED_KEY_NOTIFICATION}, id) FROM "ApiKey" WHERE "organizationId" = ${id}`
    return [organization, { kind: 'ORGANIZATION_DELETED', subjectId: id, subjectName: organization.name }]
  })
  return deletion.finally(() => ctx.knownKeys?.forget(id))
}

/**
 * Restores a deleted organization. Subscribers are not notified of events from before the restore, and the time in which it was
 * deleted does not count towards uptime. Restoring an organization that is not deleted changes nothing. Operator only.
 * @throws NotFound for an unknown organization. @throws Conflict when the restore period is over.
 */
export async function restoreOrganization(ctx: ChangeContext, id: string): Promise<Organization> {
  requireOperator(ctx)
  if (typeOfId(id) !== 'Organization') throw new NotFound('Organization not found.')
  return change(ctx, id, async ({ db, now }) => {
    const before = await db.organization.findUniqueOrThrow({ where: { id } })
    const end = deletionAt(before)
    if (end === null) return [before]
    if (end <= now()) throw new Conflict('The restore period of this organization is over.')
    const organization = await db.organization.update({ where: { id }, data: { deletedAt: null, erasureDueAt: null } })
    for (const { resume } of organizationData.get()) await resume?.(db, organization, now())
    return [organization, { kind: 'ORGANIZATION_RESTORED', subjectId: id, subjectName: organization.name }]
  })
}
