import { z } from 'zod'
import type { Context } from '../context.ts'
import { transaction } from '../context.ts'
import { Conflict, NotFound } from '../errors.ts'
import { change } from '../eventlog/change.ts'
import type { NewEvent } from '../eventlog/event.ts'
import { append } from '../eventlog/event.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { newId, typeOfId } from '../id.ts'
import { nameText, validate } from '../validate.ts'
import { requireVersion } from '../version.ts'
import { requireOperator, requireScope } from './access.ts'
import type { CreatedApiKey } from './api-key.ts'
import { insertApiKey } from './api-key.ts'
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
  const createdAt = ctx.now()
  const tier = tierNames[ctx.config.DEFAULT_TIER]
  const creation = transaction(ctx, async (tx) => {
    const organization = await tx.db.organization.create({
      data: { id: newId('Organization'), ...fields, tier, createdAt },
    })
    const { id: organizationId } = organization
    const apiKey = await insertApiKey(tx.db, {
      organizationId,
      name: 'First key',
      scope: 'ADMIN',
      expiresAt: null,
      createdAt,
    })
    await append(tx, organizationId, [
      eventOf('ORGANIZATION_CREATED', organization),
      { kind: 'API_KEY_CREATED', subjectId: apiKey.apiKey.id, subjectName: apiKey.apiKey.name },
    ])
    return { organization, apiKey }
  })
  return creation.catch(refuseTaken)
}

const tierNames = { free: 'FREE', pro: 'PRO', team: 'TEAM' } as const

/**
 * Changes what is given of the caller's organization and its page. Needs a key with scope ADMIN.
 * @throws Invalid when a field is not usable. @throws Conflict when the slug or the custom domain is taken, or the
 * organization was changed after the given version.
 */
export async function updateOrganization(ctx: Context, input: unknown): Promise<Organization> {
  const id = requireScope(ctx, 'ADMIN')
  const { version, ...fields } = validate(settingsEdit, input)
  if (fields.customDomain && isOwnHost(ctx, fields.customDomain)) {
    throw new Conflict(`The domain ${fields.customDomain} is taken.`)
  }
  const edit = change(ctx, id, async ({ db }) => {
    requireVersion(await db.organization.findUniqueOrThrow({ where: { id } }), version)
    const organization = await db.organization.update({ where: { id }, data: { ...fields, version: { increment: 1 } } })
    return [organization, eventOf('PAGE_UPDATED', organization)]
  })
  return edit.catch(refuseTaken)
}

/** Whether a host name is the one under which this service itself is reached. */
function isOwnHost({ config: { BASE_URL } }: Context, host: string): boolean {
  return BASE_URL !== undefined && new URL(BASE_URL).hostname === host
}

const tierChange = z.object({ organizationId: z.string(), tier: z.enum(['FREE', 'PRO', 'TEAM']) })

/** Gives an organization a status-page tier. Operator only. @throws NotFound when there is no such organization. */
export async function setTier(ctx: Context, input: unknown): Promise<Organization> {
  requireOperator(ctx)
  const { organizationId, tier } = validate(tierChange, input)
  return grant(ctx, organizationId, 'TIER_CHANGED', { tier })
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
  const { organizationId, plan, until } = validate(planChange, input)
  return grant(ctx, organizationId, 'CHECK_PLAN_CHANGED', {
    checkPlan: plan,
    checkPlanUntil: plan === 'FREE' ? null : (until ?? null),
  })
}

async function grant(
  ctx: Context,
  id: string,
  kind: NewEvent['kind'],
  data: Prisma.OrganizationUpdateInput,
): Promise<Organization> {
  if (typeOfId(id) !== 'Organization') throw new NotFound('There is no such organization.')
  return change(ctx, id, async ({ db }) => {
    const organization = await db.organization.update({ where: { id }, data })
    return [organization, eventOf(kind, organization)]
  })
}

const eventOf = (kind: NewEvent['kind'], { id, name }: Organization) => ({ kind, subjectId: id, subjectName: name })

/** Tells of a slug or a domain that another organization has; Prisma's code for that is P2002. */
function refuseTaken(error: unknown): never {
  const taken = error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002'
  if (!taken) throw error
  throw new Conflict(`The ${JSON.stringify(error.meta).includes('customDomain') ? 'custom domain' : 'slug'} is taken.`)
}
