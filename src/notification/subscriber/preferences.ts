import { z } from 'zod'
import type { Context } from '../../core/context.ts'
import { Conflict } from '../../core/errors.ts'
import { Topic } from '../../generated/prisma/enums.ts'
import { languages } from '../../language/catalogue.ts'
import { findOwned, MAX_SERVICES, requireDistinct, requireServices } from '../../status/ownership.ts'
import type { PageScope } from '../../status/page-scope.ts'
import { incidentsOnPage } from '../../status/page-scope.ts'

/** Object schema fields of a subscriber's preferences. */
export const preferenceFields = {
  topics: z.array(z.enum(Topic)).min(1, 'must name at least one').max(10).nullish(),
  serviceIds: z.array(z.string()).max(MAX_SERVICES, `must have at most ${MAX_SERVICES} items`).nullish(),
}

/** The language of messages. */
export const languageField = { language: z.enum(languages).nullish() }

/** With an incident to follow until it is resolved; the topics then default to none. */
export const subscriptionFields = { ...preferenceFields, incidentId: z.string().nullish() }

/** The notifications that a subscriber wants. */
export interface Preferences {
  readonly topics: Topic[]
  /** Empty for every service. */
  readonly serviceIds: readonly string[]
}

/** The default topics. They leave out status changes, which can be frequent. */
const defaultTopics: readonly Topic[] = ['INCIDENTS', 'MAINTENANCES']

/** Reads preferences and applies defaults. @throws Invalid for a duplicate service. */
export function readPreferences({ topics, serviceIds }: z.infer<z.ZodObject<typeof preferenceFields>>): Preferences {
  requireDistinct(serviceIds ?? [], (index) => ['serviceIds', index])
  return { topics: [...new Set(topics ?? defaultTopics)], serviceIds: serviceIds ?? [] }
}

/** Checks the services of preferences. @throws NotFound for a service of another organization. */
export async function requirePreferences(
  ctx: Context,
  organizationId: string,
  { serviceIds }: Preferences,
): Promise<void> {
  await requireServices(ctx, organizationId, serviceIds)
}

/** Replaces the services of a subscriber; changes nothing when `open` is false. */
export async function setServices(
  { db }: Context,
  subscriberId: string,
  serviceIds: readonly string[],
  open = true,
): Promise<void> {
  // The same statements either way, so that timing reveals nothing.
  await db.subscriberService.deleteMany({ where: { subscriberId: open ? subscriberId : '' } })
  await db.$executeRaw`
    INSERT INTO "SubscriberService" ("subscriberId", "serviceId")
    SELECT ${subscriberId}, id FROM unnest(${[...serviceIds]}::text[]) AS chosen (id) WHERE ${open}`
}

/** Returns an open incident that a page shows. @throws NotFound. @throws Conflict if it is resolved. */
export async function requireOpenIncident({ db }: Pick<Context, 'db'>, page: PageScope, id: string) {
  const incident = await findOwned('Incident', id, (known) =>
    db.incident.findFirst({
      where: { id: known, ...incidentsOnPage(page) },
      select: { id: true, title: true, titles: true, resolvedAt: true },
    }),
  )
  if (incident.resolvedAt !== null) throw new Conflict('This incident is resolved.')
  return incident
}

/** Makes a subscriber follow an incident until it is resolved. */
export async function followIncident({ db }: Context, subscriberId: string, incidentId: string | null): Promise<void> {
  if (incidentId === null) return
  await db.subscriberIncident.createMany({ data: { subscriberId, incidentId }, skipDuplicates: true })
}
