import type { EditContext } from '../account/managed-object.ts'
import { createOrganization, updateOrganization } from '../account/organization/organization.ts'
import { setTier } from '../billing/subscription/tier.ts'
import { DAY, HOUR, MINUTE, utcDay } from '../core/time.ts'
import { createIncident } from '../status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../status/incident/incident-updates.ts'
import {
  advanceMaintenance,
  cancelMaintenance,
  scheduleMaintenance,
  updateMaintenance,
} from '../status/maintenance/maintenance.ts'
import { createService } from '../status/service/service.ts'
import { createServiceGroup } from '../status/service/service-group.ts'
import type { IncidentFixture, MaintenanceFixture, PastMaintenance } from './fixtures.ts'
import * as fixtures from './fixtures.ts'
import { seedMonitors } from './seed-monitors.ts'

/** An action that the seed runs at a moment of the past. */
interface SeedAction {
  readonly at: Date
  readonly run: (ctx: EditContext) => Promise<unknown>
}

type ServiceIds = ReadonlyMap<string, string>

/** Returns when the organization is created, for a seed on the day of `now`: before every other action. */
export function organizationCreatedAt(now: Date): Date {
  return new Date(utcDay(now).getTime() - 95 * DAY + 9 * HOUR)
}

/**
 * Creates the demo organization as the operator, and replays the fixtures up to now through the functions that
 * callers use, each at its own time and in order. Returns the organization's id.
 */
export async function seedOrganization(ctx: EditContext): Promise<string> {
  const now = ctx.now()
  const operator: EditContext = { ...ctx, actor: { kind: 'operator' }, now: () => organizationCreatedAt(now) }
  const { organization, apiKey } = await createOrganization(operator, fixtures.organization)
  await setTier(operator, { organizationId: organization.id, tier: 'PRO' })
  const owner = ownerOf(operator, apiKey.apiKey)
  await updateOrganization(owner, fixtures.pageSettings)
  const ids = await addServices(owner)
  await seedMonitors(owner, organization.id, ids, now)
  const actions = [
    ...fixtures.pastIncidents.flatMap((fixture) =>
      incidentActions(fixture, fixtures.utcTimeOn(now, -fixture.daysAgo, fixture.time), ids),
    ),
    ...fixtures.pastMaintenances.flatMap((fixture) =>
      maintenanceActions(fixture, fixtures.utcTimeOn(now, -fixture.daysAgo, fixture.time), ids),
    ),
    ...fixtures.plannedMaintenances.flatMap((fixture) =>
      maintenanceActions(fixture, fixtures.utcTimeOn(now, fixture.daysAhead, fixture.time), ids),
    ),
    ...incidentActions(fixtures.openIncident, addMilliseconds(now, -fixtures.openIncident.minutesAgo * MINUTE), ids),
  ]
  const inOrder = actions.filter(({ at }) => at <= now).sort((one, other) => one.at.getTime() - other.at.getTime())
  for (const { at, run } of inOrder) await run({ ...owner, now: () => at })
  return organization.id
}

/** Returns the context for the organization's first key, with scope ADMIN. */
export function ownerOf(ctx: EditContext, key: { readonly id: string; readonly organizationId: string }): EditContext {
  const { id: keyId, organizationId } = key
  return { ...ctx, actor: { kind: 'apiKey', keyId, organizationId, scope: 'ADMIN', checkPlan: 'FREE' } }
}

/** Creates the service groups and services. Returns the ids of services by name. */
async function addServices(ctx: EditContext): Promise<ServiceIds> {
  const ids = new Map<string, string>()
  for (const { services, ...group } of fixtures.groups) {
    const { id: groupId } = await createServiceGroup(ctx, group)
    for (const service of services)
      ids.set(service.name, (await createService(ctx, { ...service, groupId, status: 'OPERATIONAL' })).id)
  }
  return ids
}

function incidentActions({ title, impact, updates }: IncidentFixture, startedAt: Date, ids: ServiceIds): SeedAction[] {
  let incidentId: string | undefined
  return updates.map(({ minute, status, message, services = {} }) => ({
    at: addMilliseconds(startedAt, minute * MINUTE),
    run: async (ctx) => {
      const content = { status, message, services: Object.entries(services).map(toServiceImpact(ids)) }
      if (incidentId === undefined)
        incidentId = (await createIncident(ctx, { title, impact, startedAt, ...content })).id
      else await postIncidentUpdate(ctx, { incidentId, ...content })
    },
  }))
}

const toServiceImpact =
  (ids: ServiceIds) =>
  ([name, status]: [string, string]) => ({ serviceId: ids.get(name), status })

/** Returns the actions of a maintenance: its announcement, start, updates and end, or its cancellation. */
function maintenanceActions(
  fixture: MaintenanceFixture & Partial<PastMaintenance>,
  startsAt: Date,
  ids: ServiceIds,
): SeedAction[] {
  const { title, message, updates = [], cancelled } = fixture
  const endsAt = addMilliseconds(startsAt, fixture.minutes * MINUTE)
  const serviceIds = fixture.services.map((name) => ids.get(name))
  let id = ''
  const announcement: SeedAction = {
    at: addMilliseconds(startsAt, -fixture.announcedDaysBefore * DAY),
    run: async (ctx) => {
      id = (await scheduleMaintenance(ctx, { title, message, startsAt, endsAt, serviceIds })).id
    },
  }
  if (cancelled) {
    const at = addMilliseconds(startsAt, -cancelled.daysBefore * DAY)
    return [announcement, { at, run: (ctx) => cancelMaintenance(ctx, { id, message: cancelled.message }) }]
  }
  const advance = (ctx: EditContext) => advanceMaintenance({ ...ctx, actor: { kind: 'system' } }, id)
  return [
    announcement,
    { at: startsAt, run: advance },
    ...updates.map(({ minute, ...content }) => ({
      at: addMilliseconds(startsAt, minute * MINUTE),
      run: (ctx: EditContext) => updateMaintenance(ctx, { id, ...content }),
    })),
    { at: endsAt, run: advance },
  ]
}

const addMilliseconds = (at: Date, milliseconds: number) => new Date(at.getTime() + milliseconds)
