import { createOrganization, updateOrganization } from '../account/organization.ts'
import { setTier } from '../billing/tier.ts'
import type { Context } from '../context.ts'
import { createIncident, postIncidentUpdate } from '../status/incident.ts'
import { advanceMaintenance, cancelMaintenance, scheduleMaintenance, updateMaintenance } from '../status/maintenance.ts'
import { createService } from '../status/service.ts'
import { createServiceGroup } from '../status/service-group.ts'
import { DAY, HOUR, MINUTE, utcDay } from '../time.ts'
import type { IncidentTale, MaintenanceTale, PastMaintenance } from './story.ts'
import * as story from './story.ts'
import { addMonitors } from './watch.ts'

/** Something that is done at a moment of the past. */
interface Happening {
  readonly at: Date
  readonly done: (ctx: Context) => Promise<unknown>
}

type ServiceIds = ReadonlyMap<string, string>

/** When the organization is founded, for a story that is told on the day of `now`: before everything that it tells. */
export function foundingOf(now: Date): Date {
  return new Date(utcDay(now).getTime() - 95 * DAY + 9 * HOUR)
}

/**
 * Founds the demo's organization, as the operator, and tells its story up to now: through the functions that callers use,
 * each thing at its own time, in order of time. Gives the organization's id.
 */
export async function tellStory(ctx: Context): Promise<string> {
  const now = ctx.now()
  const founding: Context = { ...ctx, actor: { kind: 'operator' }, now: () => foundingOf(now) }
  const { organization, apiKey } = await createOrganization(founding, story.organization)
  await setTier(founding, { organizationId: organization.id, tier: 'PRO' })
  const owner = ownerOf(founding, apiKey.apiKey)
  await updateOrganization(owner, story.pageSettings)
  const ids = await addServices(owner)
  await addMonitors(owner, organization.id, ids, now)
  const happenings = [
    ...story.pastIncidents.flatMap((tale) => incident(tale, story.momentOf(now, -tale.daysAgo, tale.time), ids)),
    ...story.pastMaintenances.flatMap((tale) => maintenance(tale, story.momentOf(now, -tale.daysAgo, tale.time), ids)),
    ...story.plannedMaintenances.flatMap((tale) =>
      maintenance(tale, story.momentOf(now, tale.daysAhead, tale.time), ids),
    ),
    ...incident(story.openIncident, plus(now, -story.openIncident.minutesAgo * MINUTE), ids),
  ]
  const inOrder = happenings.filter(({ at }) => at <= now).sort((one, other) => one.at.getTime() - other.at.getTime())
  for (const { at, done } of inOrder) await done({ ...owner, now: () => at })
  return organization.id
}

/** The same context for the holder of an organization's first key, who may do everything there. */
export function ownerOf(ctx: Context, key: { readonly id: string; readonly organizationId: string }): Context {
  const { id: keyId, organizationId } = key
  return { ...ctx, actor: { kind: 'apiKey', keyId, organizationId, scope: 'ADMIN', checkPlan: 'FREE' } }
}

/** Adds the groups and the services; gives the services' ids by their names. */
async function addServices(ctx: Context): Promise<ServiceIds> {
  const ids = new Map<string, string>()
  for (const { services, ...group } of story.groups) {
    const { id: groupId } = await createServiceGroup(ctx, group)
    for (const service of services) ids.set(service.name, (await createService(ctx, { ...service, groupId })).id)
  }
  return ids
}

function incident({ title, impact, entries }: IncidentTale, startedAt: Date, ids: ServiceIds): Happening[] {
  let incidentId: string | undefined
  return entries.map(({ minute, status, message, services = {} }) => ({
    at: plus(startedAt, minute * MINUTE),
    done: async (ctx) => {
      const said = { status, message, services: Object.entries(services).map(impactWith(ids)) }
      if (incidentId === undefined) incidentId = (await createIncident(ctx, { title, impact, startedAt, ...said })).id
      else await postIncidentUpdate(ctx, { incidentId, ...said })
    },
  }))
}

const impactWith =
  (ids: ServiceIds) =>
  ([name, status]: [string, string]) => ({ serviceId: ids.get(name), status })

/** Its announcement, what is told of it, and, as nobody else does that in the past, its start and end. */
function maintenance(tale: MaintenanceTale & Partial<PastMaintenance>, startsAt: Date, ids: ServiceIds): Happening[] {
  const { title, message, entries = [], cancelled } = tale
  const endsAt = plus(startsAt, tale.minutes * MINUTE)
  const serviceIds = tale.services.map((name) => ids.get(name))
  let id = ''
  const announcement: Happening = {
    at: plus(startsAt, -tale.announcedDaysBefore * DAY),
    done: async (ctx) => {
      id = (await scheduleMaintenance(ctx, { title, message, startsAt, endsAt, serviceIds })).id
    },
  }
  if (cancelled) {
    const at = plus(startsAt, -cancelled.daysBefore * DAY)
    return [announcement, { at, done: (ctx) => cancelMaintenance(ctx, { id, message: cancelled.message }) }]
  }
  const advance = (ctx: Context) => advanceMaintenance({ ...ctx, actor: { kind: 'system' } }, id)
  return [
    announcement,
    { at: startsAt, done: advance },
    ...entries.map(({ minute, ...said }) => ({
      at: plus(startsAt, minute * MINUTE),
      done: (ctx: Context) => updateMaintenance(ctx, { id, ...said }),
    })),
    { at: endsAt, done: advance },
  ]
}

const plus = (at: Date, milliseconds: number) => new Date(at.getTime() + milliseconds)
