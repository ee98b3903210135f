import { createApiKey, firstApiKey } from '../account/api-key/api-key.ts'
import type { EditContext } from '../account/managed-object.ts'
import { updateOrganization } from '../account/organization/organization.ts'
import { organizationBySlug } from '../account/organization/organization-queries.ts'
import type { Context } from '../core/context.ts'
import { renderMessage } from '../core/markdown/markdown-rendering.ts'
import { DAY, MINUTE } from '../core/time.ts'
import type { Incident, Organization, PrismaClient } from '../generated/prisma/client.ts'
import { fixtureMessages, organization } from './fixtures.ts'
import type { DemoPerson } from './person.ts'
import { newDemoPerson, saveDemoPerson } from './person.ts'
import { organizationCreatedAt, ownerOf, seedOrganization } from './seed.ts'
import { retargetMonitors } from './seed-monitors.ts'

/** The data that the demo prints for its visitor. */
export interface Demo {
  readonly slug: string
  /** The organization's newest incident. */
  readonly incidentId: string
  /** A key with scope ADMIN, made for this run. */
  readonly secret: string
  /** The person who can sign in to its console, with the password of this run. */
  readonly person: Pick<DemoPerson, 'email' | 'password'>
  /** The new slug of an earlier demo's organization; null when there was none to archive. */
  readonly archivedSlug: string | null
}

/** How long a run's key is valid, in milliseconds. */
const KEY_TTL_MS = 7 * DAY
/** Timeout of the seed, in milliseconds: it takes a second or two, and much longer on a busy machine. */
const TRANSACTION_TIMEOUT_MS = 2 * MINUTE

/**
 * Ensures that the demo organization exists, seeded today or yesterday, and creates a key. `PORT` must be the port
 * that the service will listen on. Archives an older organization, or one without incidents, under another slug with
 * all its data. Runs in one transaction, so that an interrupted start leaves no partial seed.
 */
export async function prepareDemo({
  db,
  ...parts
}: Pick<Context, 'config' | 'now' | 'log'> & { readonly db: PrismaClient }): Promise<Demo> {
  const outside: Context = { ...parts, db, actor: { kind: 'system' }, clientAddress: null }
  // Renders the messages before the transaction, which must not render; later renderings come from the cache.
  const person = await newDemoPerson()
  for (const message of fixtureMessages) await renderMessage(outside, organization.slug, message)
  return db.$transaction(
    async (tx) => {
      const ctx: EditContext = { ...parts, db: tx, actor: { kind: 'operator' }, clientAddress: null }
      const found = await organizationBySlug(ctx, organization.slug)
      const kept = found && isFresh(found, ctx.now()) ? await newestIncident(ctx, found.id) : null
      const archivedSlug = found && !kept ? await archive(ctx, found) : null
      const incident = kept ?? (await newestIncident(ctx, await seedOrganization(ctx)))
      if (!incident) throw new Error('The fixtures contain no incident.')
      await retargetMonitors(ctx)
      const owner = await ownerContext(ctx, incident.organizationId)
      const expiresAt = new Date(ctx.now().getTime() + KEY_TTL_MS)
      const { secret } = await createApiKey(owner, { name: 'Demo', scope: 'ADMIN', expiresAt })
      await saveDemoPerson(ctx, person, incident.organizationId)
      const { email, password } = person
      return { slug: organization.slug, incidentId: incident.id, secret, person: { email, password }, archivedSlug }
    },
    { timeout: TRANSACTION_TIMEOUT_MS },
  )
}

/**
 * Returns whether the organization was seeded today or yesterday, while its open incident and plans are still
 * current.
 */
function isFresh({ createdAt }: Organization, now: Date): boolean {
  return createdAt.getTime() >= organizationCreatedAt(now).getTime() - DAY
}

/** Moves an organization to a slug with the current time to the second. Returns the new slug. */
async function archive(ctx: EditContext, { id, slug }: Organization): Promise<string> {
  const owner = await ownerContext(ctx, id)
  const time = ctx.now().toISOString().slice(0, 19).replace(/\D/g, '')
  return (await updateOrganization(owner, { slug: `${slug}-${time}` })).slug
}

async function ownerContext(ctx: EditContext, organizationId: string): Promise<EditContext> {
  return ownerOf(ctx, await firstApiKey(ctx, organizationId))
}

function newestIncident({ db }: Context, organizationId: string): Promise<Incident | null> {
  return db.incident.findFirst({ where: { organizationId }, orderBy: { startedAt: 'desc' } })
}
