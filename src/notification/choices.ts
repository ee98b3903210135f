import { z } from 'zod'
import type { Context } from '../context.ts'
import { Topic } from '../generated/prisma/enums.ts'
import { MOST_SERVICES, requireDistinct, requireServices } from '../status/guard.ts'

/** Members of an object schema: what somebody wants to be told of. */
export const choiceMembers = {
  topics: z.array(z.enum(Topic)).min(1, 'must name at least one').max(10).nullish(),
  serviceIds: z.array(z.string()).max(MOST_SERVICES, `must be at most ${MOST_SERVICES}`).nullish(),
}

/** What somebody wants to be told of. */
export interface Choices {
  readonly topics: Topic[]
  /** Empty: every service. */
  readonly serviceIds: readonly string[]
}

/** What is told unless something else is asked for; the status of single services can change often. */
const usualTopics: readonly Topic[] = ['INCIDENTS', 'MAINTENANCES']

/** @throws Invalid when a service is named twice. */
export function readChoices({ topics, serviceIds }: z.infer<z.ZodObject<typeof choiceMembers>>): Choices {
  requireDistinct(serviceIds ?? [], (index) => ['serviceIds', index])
  return { topics: [...new Set(topics ?? usualTopics)], serviceIds: serviceIds ?? [] }
}

/** @throws NotFound when a service is none of the organization's. */
export async function requireChoices(ctx: Context, organizationId: string, { serviceIds }: Choices): Promise<void> {
  await requireServices(ctx, organizationId, serviceIds)
}

/** Puts the services that a subscriber has chosen in place of those before; nothing when `open` is false. */
export async function setServices(
  { db }: Context,
  subscriberId: string,
  serviceIds: readonly string[],
  open = true,
): Promise<void> {
  // The same statements either way: how long they take must not tell.
  await db.subscriberService.deleteMany({ where: { subscriberId: open ? subscriberId : '' } })
  await db.$executeRaw`
    INSERT INTO "SubscriberService" ("subscriberId", "serviceId")
    SELECT ${subscriberId}, id FROM unnest(${[...serviceIds]}::text[]) AS chosen (id) WHERE ${open}`
}
