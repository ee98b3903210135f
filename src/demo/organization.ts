import { createApiKey } from '../account/api-key.ts'
import { createOrganization, setTier, updateOrganization } from '../account/organization.ts'
import type { Actor, Context } from '../context.ts'
import type { Organization, PrismaClient } from '../generated/prisma/client.ts'
import { createIncident, postIncidentUpdate } from '../status/incident.ts'
import { advanceMaintenance, cancelMaintenance, scheduleMaintenance, updateMaintenance } from '../status/maintenance.ts'
import { createService } from '../status/service.ts'
import { createServiceGroup } from '../status/service-group.ts'
import { DAY, HOUR, MINUTE, utcDay } from '../time.ts'
import type { IncidentTale, MaintenanceTale, ServiceName } from './story.ts'
import {
  groups,
  openIncident,
  organization,
  pageSettings,
  pastIncidents,
  pastMaintenances,
  plannedMaintenances,
} from './story.ts'

/** What a visitor of the demo needs to know. */
export interface Demo {
  readonly slug: string
  /** A key with scope ADMIN, made for this run. */
  readonly secret: string
  /** The newest incident. */
  readonly incidentId: string
  /** Where the organization of an earlier demo is now; null: none had to make room. */
  readonly retiredSlug: string | null
}

type Parts = Pick<Context, 'config' | 'now' | 'log'> & { readonly db: PrismaClient }

/** How long before today the organization was made: its 90 days of history begin after that. */
const FOUNDED = 95 * DAY
/** The first moment at which a demo is too old: what happens "now" is then of the day before yesterday. */
const TOO_OLD = 2 * DAY
/** How long a run's key is good. */
const KEY_LIFE = 7 * DAY
/** The story is told within seconds, or not at all. */
const TIME_LIMIT = 2 * MINUTE

/**
 * Sees to it that the demo's organization is there, made today or yesterday; one that is older makes room for a new one
 * and stays, under another slug, with whatever was done to it. All or nothing: it happens in one transaction.
 */
export function prepareDemo({ db, ...parts }: Parts): Promise<Demo> {
  return db.$transaction(
    async (tx) => {
      const ctx: Context = { ...parts, db: tx, actor: { kind: 'operator' }, clientAddress: null }
      const now = ctx.now()
      const found = await tx.organization.findUnique({ where: { slug: organization.slug } })
      const kept = found !== null && found.createdAt.getTime() > utcDay(now).getTime() - FOUNDED - TOO_OLD ? found : null
      const retired = found !== null && kept === null ? await retire(ctx, found) : null
      const { id, slug } = kept ?? (await tellStory(ctx))
      const owner = await ownerOf(ctx, id)
      const newest = { where: { organizationId: id }, orderBy: { startedAt: 'desc' } } as const
      const incident = (await tx.incident.findFirst(newest)) ?? (await createIncidentAnew(owner))
      const expiresAt = new Date(now.getTime() + KEY_LIFE)
      const { secret } = await createApiKey(owner, { name: 'Demo', scope: 'ADMIN', expiresAt })
      return { slug, secret, incidentId: incident.id, retiredSlug: retired?.slug ?? null }
    },
    { timeout: TIME_LIMIT },
  )
}
