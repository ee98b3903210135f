import { isOperatorToken } from '../account/operator.ts'
import { insertOrganization, refuseTaken } from '../account/organization/organization.ts'
import { slugText } from '../account/page/page-settings.ts'
import type { Context } from '../core/context.ts'
import { transaction } from '../core/context.ts'
import { Conflict, Unauthenticated } from '../core/errors.ts'
import { DAY } from '../core/time.ts'
import { nameText, validate } from '../core/validation.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { limitAttempts } from './attempt-limit.ts'
import type { PeopleContext } from './context.ts'
import { insertMembership } from './membership.ts'
import { createToken, readToken, takeToken } from './one-time-token.ts'
import { hashPassword } from './password.ts'
import { startSession } from './session.ts'
import { insertUser, newPerson } from './user.ts'

/** The path of the setup page. */
export const SETUP_PATH = '/setup'

/** How long the setup link works. Each start prints a new one. */
const SETUP_LIFETIME = 7 * DAY

const setupInput = newPerson.extend({ organizationName: nameText, slug: slugText })

/** Returns whether no account exists yet. */
export async function isSetUpNeeded({ db }: Pick<Context, 'db'>): Promise<boolean> {
  return (await db.user.findFirst({ select: { id: true } })) === null
}

/**
 * Requires that the service is set up, because an account that is created before the operator's would close the setup page.
 * @throws Conflict while no account exists.
 */
export async function requireSetUp(ctx: Pick<Context, 'db'>): Promise<void> {
  if (await isSetUpNeeded(ctx)) throw new Conflict('This service is not set up yet.')
}

/**
 * Creates the token of the setup page and deletes earlier ones. Returns null when an account exists, or when `ADMIN_TOKEN` is set,
 * because the page then asks for `ADMIN_TOKEN`.
 */
export async function createSetupToken(ctx: Pick<Context, 'db' | 'config' | 'now'>): Promise<string | null> {
  if (ctx.config.ADMIN_TOKEN !== undefined || !(await isSetUpNeeded(ctx))) return null
  await ctx.db.oneTimeToken.deleteMany({ where: { purpose: 'SETUP' } })
  return createToken(ctx, 'SETUP', { lifetimeMs: SETUP_LIFETIME })
}

/** Returns whether a token opens the setup page: `ADMIN_TOKEN` if it is set, otherwise the token of the setup link. */
export async function mayUseSetup(ctx: Pick<Context, 'db' | 'config' | 'now'>, token: string): Promise<boolean> {
  if (ctx.config.ADMIN_TOKEN !== undefined) return isOperatorToken(ctx, token)
  return (await readToken(ctx, 'SETUP', token)) !== null
}

/**
 * Creates the first person, who is the operator, with an organization, and signs them in.
 * @throws Invalid for an invalid field. @throws Unauthenticated `INVALID_TOKEN` for a wrong or used token, or when an account
 * exists. @throws RateLimited after too many wrong tokens.
 */
export async function setUp(
  ctx: PeopleContext,
  token: string,
  input: unknown,
  userAgent: string,
): Promise<{ organization: Organization; sessionToken: string }> {
  const permitted = await limitAttempts(ctx, { account: 'setup', browser: null }, async () =>
    (await mayUseSetup(ctx, token)) ? true : null,
  )
  if (!permitted) throw wrongToken()
  const { email, name, password, organizationName, slug } = validate(setupInput, input)
  const passwordHash = await hashPassword(password, ctx.clientAddress)
  const creation = transaction(ctx, async (tx) => {
    // Only one setup can run at a time, across all instances.
    await tx.db.$queryRaw`SELECT pg_advisory_xact_lock(${SETUP_LOCK})::text`
    const isTaken = tx.config.ADMIN_TOKEN !== undefined || (await takeToken(tx, 'SETUP', token)) !== null
    if (!isTaken || !(await isSetUpNeeded(tx))) throw wrongToken()
    const user = await insertUser(tx, 'SETUP', { email, name, passwordHash, isOperator: true })
    const organization = await insertOrganization(tx, { name: organizationName, slug, contactEmail: email })
    await insertMembership(tx, { organizationId: organization.id, userId: user.id, role: 'OWNER' }, user.name)
    return { organization, sessionToken: await startSession(tx, user.id, userAgent) }
  })
  return creation.catch(refuseTaken)
}

/** The advisory lock of the setup. */
const SETUP_LOCK = 7_201_533

function wrongToken(): Unauthenticated {
  return new Unauthenticated('INVALID_TOKEN', 'This link was already used or is no longer valid.')
}
