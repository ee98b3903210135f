import { z } from 'zod'
import type { Prisma } from '../generated/prisma/client.ts'
import type { DeliveryStatus } from '../generated/prisma/enums.ts'
import { nextAttempt } from './backoff.ts'
import type { Outcome } from './channel/channel.ts'

const attempts = z.array(
  z.object({
    at: z.coerce.date(),
    delivered: z.boolean(),
    /** The receiver's own, of HTTP or SMTP; null: it gave none. */
    status: z.int().nullable(),
    message: z.string(),
    durationMs: z.int(),
  }),
)

/** What became of one attempt at a delivery. */
export type Attempt = z.infer<typeof attempts>[number]

/** The attempts at a delivery, oldest first. @throws Error when they are none: nobody but us has written them. */
export function readAttempts(value: Prisma.JsonValue): Attempt[] {
  return attempts.parse(value)
}

/** Where a delivery stands after an attempt. */
export interface Verdict {
  readonly status: DeliveryStatus
  /** When it is next tried; null: never. */
  readonly dueAt: Date | null
}

/**
 * Where a delivery stands after an attempt: delivered, given up, or to be tried again.
 * @param delivery since when it is tried, and how many attempts had failed before. @param random from 0 to 1.
 */
export function verdictOf(
  outcome: Outcome,
  delivery: { readonly triedSince: Date; readonly failed: number },
  now: Date,
  random: number,
): Verdict {
  if (outcome.kind === 'delivered') return { status: 'DELIVERED', dueAt: null }
  const { lasts, retryAfterMs } = outcome
  const { triedSince: createdAt, failed } = delivery
  const dueAt = lasts === 'PASSING' ? nextAttempt({ createdAt, failed: failed + 1, retryAfterMs }, now, random) : null
  return { status: dueAt === null ? 'FAILED' : 'PENDING', dueAt }
}
