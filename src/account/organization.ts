import { z } from 'zod'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { transaction } from '../context.ts'
import { Conflict, NotFound } from '../errors.ts'
import { change } from '../eventlog/change.ts'
import type { NewEvent } from '../eventlog/event.ts'
import { append } from '../eventlog/event.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { Tier } from '../generated/prisma/enums.ts'
import { newId, typeOfId } from '../id.ts'
import { nameText, validate } from '../validate.ts'
import { alters, requireVersion } from '../version.ts'
import { requireOperator, requireSame, requireScope } from './access.ts'
import type { CreatedApiKey } from './api-key.ts'
import { insertApiKey } from './api-key.ts'
import { askForDomain, dropDomain } from './domain.ts'
import { emailText, settingsEdit, slugText } from './page-settings.ts'

const newOrganization = z.object({ name: nameText, slug: slugText, contactEmail: emailText })

/**
 * Makes an organization with its first key (scope ADMIN). Only the operator may, unless signing up is open.
 * @throws Invalid when a field is not usable. @throws Conflict when the slug is taken.
 */
export async function createOrganization(
  ctx: Context,
  input: unknown,
): Promise<{ organization: Organization; apiKey: CreatedApiKey }> {
  if (ctx.config.SIGNUP === 'closed') requireOperator(ctx)
  const fields = validate(newOrganization, input)
  const creation = transaction(ctx, async (tx) => {
    const organization = await insertOrganization(tx, fields)
    return { organization, apiKey: await insertFirstKey(tx, organization.id) }
  })
  return creation.catch(refuseTaken)
}

/** Stores a new organization on the default tier, without a key. Who may have one is the caller's business. */
export async function insertOrganization(
  tx: Context,
  fields: { readonly name: string; readonly slug: string; readonly contactEmail: string },
): Promise<Organization> {
  const tier = defaultTier(tx.config)
  const organization = await tx.db.organization.create({
    data: { id: newId('Organization'), ...fields, tier, createdAt: tx.now() },
  })
  await append(tx, organization.id, [eventOf('ORGANIZATION_CREATED', organization)])
  return organization
}

/** Makes an organization's first key, which may do everything. */
export async function insertFirstKey(tx: Context, organizationId: string): Promise<CreatedApiKey> {
  const key = { organizationId, name: 'First key', scope: 'ADMIN', expiresAt: null, createdAt: tx.now() } as const
  const created = await insertApiKey(tx.db, key)
  const { id, name } = created.apiKey
  await append(tx, organizationId, [{ kind: 'API_KEY_CREATED', subjectId: id, subjectName: name }])
  return created
}

/** The tier of an organization that pays for none. */
export function defaultTier({ DEFAULT_TIER }: Config): Tier {
  return ({ free: 'FREE', pro: 'PRO', team: 'TEAM' } as const)[DEFAULT_TIER]
}

/**
 * Changes what is given of the caller's organization and its page. A custom domain is asked for by that, and served once it
 * is proven. Needs a key with scope ADMIN.
 * @throws Invalid when a field is not usable. @throws Conflict when the slug is taken, or the organization was changed after
 * the given version.
 */
export async function updateOrganization(ctx: Context, input: unknown): Promise<Organization> {
  const id = requireScope(ctx, 'ADMIN')
  const { version, customDomain, organizationId, ...fields } = validate(settingsEdit, input)
  requireSame(organizationId, id)
  const edit = change(ctx, id, async (tx) => {
    const { db } = tx
    const before = await db.organization.findUniqueOrThrow({ where: { id } })
    requireVersion(before, version)
    const asked = await db.customDomain.findUnique({ where: { organizationId: id }, select: { name: true } })
    if (customDomain === null) await dropDomain(db, id)
    else if (customDomain !== undefined) await askForDomain(tx, id, customDomain, ['customDomain'])
    const isMoved = customDomain !== undefined && customDomain !== (asked?.name ?? null)
    if (!isMoved && !alters(before, fields)) return [before]
    const organization = await db.organization.update({ where: { id }, data: { ...fields, version: { increment: 1 } } })
    // Its days are others now, and will be computed anew.
    if (organization.timeZone !== before.timeZone) await db.uptimeDay.deleteMany({ where: { organizationId: id } })
    return [organization, eventOf('PAGE_UPDATED', organization)]
  })
  return edit.catch(refuseTaken)
}

const planChange = z.object({
  organizationId: z.string(),
  plan: z.enum(['FREE', 'PRO']),
  until: z.date().nullish(),
})

/**
 * Gives an organization a check plan, until a moment or (null) for good. Operator only.
 * @throws NotFound when there is no such organization.
 */
export async function setCheckPlan(ctx: Context, input: unknown): Promise<Organization> {
  requireOperator(ctx)
  const { organizationId: id, plan, until } = validate(planChange, input)
  if (typeOfId(id) !== 'Organization') throw new NotFound('There is no such organization.')
  return change(ctx, id, async ({ db }) => {
    const data = { checkPlan: plan, checkPlanUntil: plan === 'FREE' ? null : (until ?? null) }
    const before = await db.organization.findUniqueOrThrow({ where: { id } })
    if (!alters(before, data)) return [before]
    const organization = await db.organization.update({ where: { id }, data })
    return [organization, eventOf('CHECK_PLAN_CHANGED', organization)]
  })
}

const eventOf = (kind: NewEvent['kind'], { id, name }: Organization) => ({ kind, subjectId: id, subjectName: name })

/** Tells of a slug that another organization has; Prisma's code for that is P2002. */
function refuseTaken(error: unknown): never {
  const taken = error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002'
  if (!taken) throw error
  throw new Conflict('The slug is taken.')
}
