import { z } from 'zod'
import { requireConfirmation, requireOperator } from '../../core/access.ts'
import type { Config } from '../../core/config.ts'
import type { Context, Database } from '../../core/context.ts'
import { afterTransaction, transaction } from '../../core/context.ts'
import { NotFound } from '../../core/errors.ts'
import { typeOfId } from '../../core/id.ts'
import { validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import type { PrivateTargetCheck } from './check.ts'

/** The permission to reach private networks, and where it comes from. Each of the three alone is enough. */
export interface PrivateTargets {
  /** Whether the operator allows them for the organization; false: not, or no organization was asked about. */
  readonly forOrganization: boolean
  /** Whether the operator allows them for all organizations. */
  readonly forAll: boolean
  /** Whether `ALLOW_PRIVATE_NETWORKS` allows them for all, which only a restart changes. */
  readonly byEnvironment: boolean
}

/** What changes permissions in this process at once. */
export interface PermissionCache {
  /** What this process knows about permissions; absent: it caches none. */
  readonly privateTargets?: Pick<PrivateTargetCheck, 'forget'> | undefined
}

/** The channel of notifications about changed permissions: an organization's id, or `all`. */
export const PERMISSION_NOTIFICATION = 'allclear_private_targets'

/** The id of the permission for all organizations. */
export const ALL = 'all'

/** Returns whether an organization may reach private networks. */
export const isAllowed = ({ forOrganization, forAll, byEnvironment }: PrivateTargets): boolean =>
  forOrganization || forAll || byEnvironment

/** Returns the permission of an organization; null: only that of all organizations. */
export async function readPrivateTargets(
  { db, config }: { readonly db: Pick<Database, 'privateTargetPermission'>; readonly config: PermissionSettings },
  organizationId: string | null,
): Promise<PrivateTargets> {
  const ids = organizationId === null ? [ALL] : [ALL, organizationId]
  const rows = await db.privateTargetPermission.findMany({ where: { id: { in: ids } }, select: { id: true } })
  return {
    forOrganization: rows.some(({ id }) => id !== ALL),
    forAll: rows.some(({ id }) => id === ALL),
    byEnvironment: config.ALLOW_PRIVATE_NETWORKS,
  }
}

/** Returns which of these organizations have a permission of their own. */
export async function permittedAmong({ db }: Pick<Context, 'db'>, ids: readonly string[]): Promise<Set<string>> {
  const where = { organizationId: { in: [...ids] } }
  const rows = await db.privateTargetPermission.findMany({ where, select: { id: true } })
  return new Set(rows.map(({ id }) => id))
}

/** A permission of one organization. */
export interface OwnPermission {
  readonly organization: Pick<Organization, 'id' | 'name'>
  readonly grantedAt: Date
}

/** Returns at most `limit` organizations with a permission of their own, the newest permission first. */
export async function listPermitted({ db }: Pick<Context, 'db'>, limit: number): Promise<OwnPermission[]> {
  const rows = await db.privateTargetPermission.findMany({
    where: { organizationId: { not: null } },
    select: { grantedAt: true, organization: { select: { id: true, name: true } } },
    orderBy: [{ grantedAt: 'desc' }, { id: 'asc' }],
    take: limit,
  })
  return rows.flatMap(({ grantedAt, organization }) => (organization === null ? [] : [{ organization, grantedAt }]))
}

/** Counts the organizations with a permission of their own. */
export function countPermitted({ db }: Pick<Context, 'db'>): Promise<number> {
  return db.privateTargetPermission.count({ where: { organizationId: { not: null } } })
}

/** The setting that allows private networks for all. */
export type PermissionSettings = Pick<Config, 'ALLOW_PRIVATE_NETWORKS'>

const permissionChange = z.object({ organizationId: z.string().nullish(), allowed: z.boolean() })

/**
 * Allows or withdraws private targets for one organization, or for all if none is given; at once, on every instance.
 * Withdrawing one of several permissions leaves the others. Operator only; to allow them, a person must have confirmed
 * their identity. Returns the permission after that.
 * @throws Invalid. @throws NotFound for an unknown organization.
 */
export async function setPrivateTargets(ctx: ChangeContext & PermissionCache, input: unknown): Promise<PrivateTargets> {
  requireOperator(ctx)
  const { organizationId: id = null, allowed } = validate(permissionChange, input)
  if (allowed) requireConfirmation(ctx)
  if (id === null) await transaction(ctx, (tx) => storePermission(tx, null, allowed))
  else await setForOrganization(ctx, id, allowed)
  return readPrivateTargets(ctx, id)
}

async function setForOrganization(ctx: ChangeContext & PermissionCache, id: string, allowed: boolean): Promise<void> {
  if (typeOfId(id) !== 'Organization') throw new NotFound('Organization not found.')
  await change(ctx, id, async (tx) => {
    if (!(await storePermission(tx, id, allowed))) return [undefined]
    const { name } = await tx.db.organization.findUniqueOrThrow({ where: { id }, select: { name: true } })
    const kind = allowed ? 'PRIVATE_TARGETS_ALLOWED' : 'PRIVATE_TARGETS_WITHDRAWN'
    return [undefined, { kind, subjectId: id, subjectName: name }]
  })
}

/** Stores or deletes a permission and announces it. Returns whether it has changed. */
async function storePermission(
  tx: Context & PermissionCache,
  organizationId: string | null,
  allowed: boolean,
): Promise<boolean> {
  const { db, now, log, actor } = tx
  const id = organizationId ?? ALL
  const { count } = allowed
    ? await db.privateTargetPermission.createMany({
        data: { id, organizationId, grantedAt: now() },
        skipDuplicates: true,
      })
    : await db.privateTargetPermission.deleteMany({ where: { id } })
  if (count === 0) return false
  await db.$executeRaw`SELECT pg_notify(${PERMISSION_NOTIFICATION}, ${id})`
  afterTransaction(tx, () => tx.privateTargets?.forget(id))
  const person = actor.kind === 'operator' || actor.kind === 'user' ? actor.userId : undefined
  log.warn({ organization: id, person }, `account: private targets are ${allowed ? 'allowed' : 'no longer allowed'}`)
  return true
}
