import { z } from 'zod'
import { isOperator, requireOperator, requireOwnOrganization, requireScope } from '../../core/access.ts'
import type { Config } from '../../core/config.ts'
import type { Context, Database } from '../../core/context.ts'
import { transaction } from '../../core/context.ts'
import { emailAddress } from '../../core/email-address.ts'
import { Conflict, NotFound } from '../../core/errors.ts'
import { newId, typeOfId } from '../../core/id.ts'
import { changedFields, hasChanges, requireVersion, versionInput } from '../../core/optimistic-lock.ts'
import { nameText, validate } from '../../core/validation.ts'
import type { ChangeContext, ChangeResult } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { NewEvent } from '../../event-log/event.ts'
import { appendEvents } from '../../event-log/event.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { Tier } from '../../generated/prisma/enums.ts'
import type { CreatedApiKey } from '../api-key/api-key.ts'
import { announceKeys, insertApiKey } from '../api-key/api-key.ts'
import type { KeyCache } from '../api-key/known-keys.ts'
import type { EditContext } from '../managed-object.ts'
import { requireUnlocked } from '../managed-object.ts'
import type { LogoFile } from '../page/logo.ts'
import { changedLogo, storeLogo } from '../page/logo.ts'
import { settingsEdit, slugText } from '../page/page-settings.ts'
import { organizationData } from './organization-data.ts'
import { consumeSignUpQuota } from './sign-up.ts'

const newOrganization = z.object({ name: nameText, slug: slugText, contactEmail: emailAddress })

/**
 * Creates an organization and its first key (scope ADMIN). Operator only, unless sign-up is open.
 * @throws Invalid for an invalid field. @throws Conflict when the slug is taken. @throws RateLimited after too many sign-ups from
 * the caller's network, or in total.
 */
export async function createOrganization(
  ctx: EditContext,
  input: unknown,
): Promise<{ organization: Organization; apiKey: CreatedApiKey }> {
  if (ctx.config.SIGNUP === 'closed') requireOperator(ctx)
  const fields = validate(newOrganization, input)
  const creation = transaction(ctx, async (tx) => {
    if (!isOperator(tx.actor)) await consumeSignUpQuota(tx)
    const organization = await insertOrganization(tx, fields)
    return { organization, apiKey: await insertFirstKey(tx, organization.id) }
  })
  return creation.catch(refuseTaken)
}

/** Inserts an organization on the default tier, without a key. The caller checks permissions. */
export async function insertOrganization(
  tx: Context,
  fields: { readonly name: string; readonly slug: string; readonly contactEmail: string },
): Promise<Organization> {
  const tier = defaultTier(tx.config)
  const organization = await tx.db.organization.create({
    data: { id: newId('Organization'), ...fields, tier, createdAt: tx.now() },
  })
  await appendEvents(tx, organization.id, [eventOf('ORGANIZATION_CREATED', organization)])
  return organization
}

/** Creates an organization's first key, with scope ADMIN. */
export async function insertFirstKey(tx: EditContext, organizationId: string): Promise<CreatedApiKey> {
  const key = { organizationId, name: 'First key', scope: 'ADMIN', expiresAt: null, createdAt: tx.now() } as const
  const created = await insertApiKey(tx, key)
  const { id, name } = created.apiKey
  await appendEvents(tx, organizationId, [{ kind: 'API_KEY_CREATED', subjectId: id, subjectName: name }])
  return created
}

/** Returns the tier of an organization that does not pay for one. */
export function defaultTier({ DEFAULT_TIER }: Config): Tier {
  return ({ free: 'FREE', pro: 'PRO', team: 'TEAM' } as const)[DEFAULT_TIER]
}

/**
 * Updates the given fields of the caller's organization and its page. Requires a key with scope ADMIN.
 * @param upload becomes the logo; absent: the logo comes from the input.
 * @throws Invalid for an invalid field. @throws Conflict when the slug is taken, when the organization has changed since the given
 * version, or when a file manages a changed member (ManagedByFile).
 */
export async function updateOrganization(ctx: EditContext, input: unknown, upload?: LogoFile): Promise<Organization> {
  const id = requireScope(ctx, 'ADMIN')
  const { version, organizationId, logoUrl, ...others } = validate(settingsEdit, input)
  requireOwnOrganization(organizationId, id)
  const edit = change(ctx, id, async (tx) => {
    const { db } = tx
    const before = await db.organization.findUniqueOrThrow({ where: { id } })
    requireVersion(before, version)
    const logo = changedLogo(before, logoUrl, upload)
    const fields = logo === undefined ? others : { ...others, logoUrl: logo }
    const page = { id: before.pageId, organizationId: id }
    const changed = changedFields(before, fields)
    if (changed.length === 0) return [before]
    await requireUnlocked(tx, id, before.pageId, changed)
    const organization = await db.organization.update({ where: { id }, data: { ...fields, version: { increment: 1 } } })
    if (organization.logoUrl !== before.logoUrl) await storeLogo(db, page, upload)
    if (organization.timeZone !== before.timeZone) await moveDays(db, id)
    return [organization, eventOf('PAGE_UPDATED', organization)]
  })
  return edit.catch(refuseTaken)
}

/** Lets every room forget what depends on the boundaries of days. */
async function moveDays(db: Database, id: string): Promise<void> {
  for (const data of organizationData.get()) await data.moveDays?.(db, id)
}

const planChange = z.object({
  organizationId: z.string(),
  plan: z.enum(['FREE', 'PRO']),
  until: z.date().nullish(),
  version: versionInput,
})

/**
 * Sets the check plan of an organization, until a given time; null: without an end. Operator only.
 * @throws NotFound for an unknown organization. @throws Conflict when it has changed since the given version.
 */
export async function setCheckPlan(ctx: ChangeContext & KeyCache, input: unknown): Promise<Organization> {
  requireOperator(ctx)
  const { organizationId: id, plan, until, version } = validate(planChange, input)
  if (typeOfId(id) !== 'Organization') throw new NotFound('Organization not found.')
  const edit = change(ctx, id, async ({ db }): Promise<ChangeResult<Organization>> => {
    const data = { checkPlan: plan, checkPlanUntil: plan === 'FREE' ? null : (until ?? null) }
    const before = await db.organization.findUniqueOrThrow({ where: { id } })
    requireVersion(before, version)
    if (!hasChanges(before, data)) return [before]
    const organization = await db.organization.update({ where: { id }, data: { ...data, version: { increment: 1 } } })
    await announceKeys(db, id)
    return [organization, eventOf('CHECK_PLAN_CHANGED', organization)]
  })
  return edit.finally(() => ctx.knownKeys?.forget(id))
}

const eventOf = (kind: NewEvent['kind'], { id, name }: Organization) => ({ kind, subjectId: id, subjectName: name })

/** Converts a unique violation of a new or changed organization to a Conflict about its slug. @throws always. */
export function refuseTaken(error: unknown): never {
  const taken = error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002'
  if (!taken) throw error
  throw new Conflict('The slug is taken.')
}
