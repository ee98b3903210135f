import { createApiKey } from '../account/api-key.ts'
import { updateOrganization } from '../account/organization.ts'
import type { Context } from '../context.ts'
import type { Incident, Organization, PrismaClient } from '../generated/prisma/client.ts'
import { renderMessage } from '../rendering.ts'
import { DAY, MINUTE } from '../time.ts'
import { messagesOfStory, organization } from './story.ts'
import { foundingOf, ownerOf, tellStory } from './tell.ts'
import { aimMonitors } from './watch.ts'

/** What a visitor of the demo needs to know. */
export interface Demo {
  readonly slug: string
  /** The organization's newest incident. */
  readonly incidentId: string
  /** A key with scope ADMIN, made for this run. */
  readonly secret: string
  /** Where the organization of an earlier demo is now; null: none had to make room. */
  readonly retiredSlug: string | null
}

/** How long a run's key is good. */
const KEY_LIFE = 7 * DAY
/** The story takes a second or two; a machine that is busy may need many times that. */
const TIME_LIMIT = 2 * MINUTE

/**
 * Sees to it that the demo's organization is there, with a story told today or yesterday, and makes a key; `PORT` has to be
 * the one that the service will listen on. One that is older, or has no incident any more, makes room: it stays, with whatever was done to it, under another slug. All in one
 * transaction, so that a start that is broken off leaves nothing half told.
 */
export async function prepareDemo({
  db,
  ...parts
}: Pick<Context, 'config' | 'now' | 'log'> & { readonly db: PrismaClient }): Promise<Demo> {
  const outside: Context = { ...parts, db, actor: { kind: 'system' }, clientAddress: null }
  // Nothing is rendered inside a transaction, but what is known by then need not be.
  for (const message of messagesOfStory) await renderMessage(outside, organization.slug, message)
  return db.$transaction(
    async (tx) => {
      const ctx: Context = { ...parts, db: tx, actor: { kind: 'operator' }, clientAddress: null }
      const found = await tx.organization.findUnique({ where: { slug: organization.slug } })
      const kept = found && isFresh(found, ctx.now()) ? await newestIncident(ctx, found.id) : null
      const retiredSlug = found && !kept ? await retire(ctx, found) : null
      const incident = kept ?? (await newestIncident(ctx, await tellStory(ctx)))
      if (!incident) throw new Error('The story tells of no incident.')
      await aimMonitors(ctx)
      const owner = await ownerContext(ctx, incident.organizationId)
      const expiresAt = new Date(ctx.now().getTime() + KEY_LIFE)
      const { secret } = await createApiKey(owner, { name: 'Demo', scope: 'ADMIN', expiresAt })
      return { slug: organization.slug, incidentId: incident.id, secret, retiredSlug }
    },
    { timeout: TIME_LIMIT },
  )
}

/** Whether a story was told today or yesterday: until then its open incident and its plans hold. */
function isFresh({ createdAt }: Organization, now: Date): boolean {
  return createdAt.getTime() >= foundingOf(now).getTime() - DAY
}

/** Puts an organization out of the way, under its slug with the time to the second. Gives the new slug. */
async function retire(ctx: Context, { id, slug }: Organization): Promise<string> {
  const owner = await ownerContext(ctx, id)
  const time = ctx.now().toISOString().slice(0, 19).replace(/\D/g, '')
  return (await updateOrganization(owner, { slug: `${slug}-${time}` })).slug
}

async function ownerContext(ctx: Context, organizationId: string): Promise<Context> {
  const first = { where: { organizationId }, orderBy: { createdAt: 'asc' } } as const
  return ownerOf(ctx, await ctx.db.apiKey.findFirstOrThrow(first))
}

function newestIncident({ db }: Context, organizationId: string): Promise<Incident | null> {
  return db.incident.findFirst({ where: { organizationId }, orderBy: { startedAt: 'desc' } })
}
