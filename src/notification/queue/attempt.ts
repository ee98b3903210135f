import { z } from 'zod'
import type { Prisma } from '../../generated/prisma/client.ts'
import type { DeliveryStatus } from '../../generated/prisma/enums.ts'
import type { SendOutcome } from '../channel/channel.ts'
import { nextAttempt } from './backoff.ts'

const attempts = z.array(
  z.object({
    at: z.coerce.date(),
    delivered: z.boolean(),
    /** The receiver's HTTP or SMTP status; null: no response. */
    status: z.int().nullable(),
    message: z.string(),
    /** Whether only the operator could mend the cause; absent: no. */
    isOurs: z.boolean().optional(),
    durationMs: z.int(),
  }),
)

/** The result of one delivery attempt. */
export type Attempt = z.infer<typeof attempts>[number]

/** Reads the stored attempts of a delivery, oldest first. @throws Error for malformed data, which is a bug. */
export function readAttempts(value: Prisma.JsonValue): Attempt[] {
  return attempts.parse(value)
}

/** The state of a delivery after an attempt. */
export interface DeliveryProgress {
  readonly status: DeliveryStatus
  /** The time of the next attempt, or null. */
  readonly dueAt: Date | null
}

/**
 * Returns the state of a delivery after an attempt: delivered, failed, or pending with a time to retry.
 * @param delivery the start of its retry window, and the number of failed attempts before this one. @param random from
 * 0 to 1.
 */
export function progressAfter(
  outcome: SendOutcome,
  delivery: { readonly triedSince: Date; readonly failed: number },
  now: Date,
  random: number,
): DeliveryProgress {
  if (outcome.kind === 'delivered') return { status: 'DELIVERED', dueAt: null }
  const { permanence, retryAfterMs } = outcome
  const { triedSince: createdAt, failed } = delivery
  const dueAt =
    permanence === 'TEMPORARY' ? nextAttempt({ createdAt, failed: failed + 1, retryAfterMs }, now, random) : null
  return { status: dueAt === null ? 'FAILED' : 'PENDING', dueAt }
}
