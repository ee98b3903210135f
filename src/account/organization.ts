import { z } from 'zod'
import type { Context } from '../context.ts'
import { transaction } from '../context.ts'
import { Conflict, NotFound } from '../errors.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { newId, typeOfId } from '../id.ts'
import { nameText, validate } from '../validate.ts'
import { requireOperator } from './access.ts'
import type { CreatedApiKey } from './api-key.ts'
import { insertApiKey } from './api-key.ts'

const newOrganization = z.object({
  name: nameText,
  slug: z
    .string()
    .min(2, 'must have at least 2 characters')
    .max(63, 'must have at most 63 characters')
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be small letters and digits, in parts joined by single hyphens'),
  contactEmail: z.email('must be an e-mail address').max(254, 'must have at most 254 characters'),
})

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
  try {
    return await transaction(ctx, async ({ db }) => {
      const organization = await db.organization.create({
        data: { id: newId('Organization'), ...fields, tier, createdAt },
      })
      const key = {
        organizationId: organization.id,
        name: 'First key',
        scope: 'ADMIN',
        expiresAt: null,
        createdAt,
      } as const
      return { organization, apiKey: await insertApiKey(db, key) }
    })
  } catch (error) {
    if (isTaken(error)) throw new Conflict(`The slug “${fields.slug}” is taken.`)
    throw error
  }
}

const tierNames = { free: 'FREE', pro: 'PRO', team: 'TEAM' } as const

const tierChange = z.object({ organizationId: z.string(), tier: z.enum(['FREE', 'PRO', 'TEAM']) })

/** Gives an organization a status-page tier. Operator only. @throws NotFound when there is no such organization. */
export async function setTier(ctx: Context, input: unknown): Promise<Organization> {
  requireOperator(ctx)
  const { organizationId, tier } = validate(tierChange, input)
  return updateOrganization(ctx, organizationId, { tier })
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
  return updateOrganization(ctx, organizationId, {
    checkPlan: plan,
    checkPlanUntil: plan === 'FREE' ? null : (until ?? null),
  })
}

async function updateOrganization(
  ctx: Context,
  id: string,
  data: Prisma.OrganizationUpdateInput,
): Promise<Organization> {
  const missing = new NotFound('There is no such organization.')
  if (typeOfId(id) !== 'Organization') throw missing
  try {
    return await ctx.db.organization.update({ where: { id }, data })
  } catch (error) {
    throw isMissing(error) ? missing : error
  }
}

// Prisma's error codes: https://www.prisma.io/docs/orm/reference/error-reference
const isTaken = (error: unknown) => error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002'
const isMissing = (error: unknown) => error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2025'
