import { z } from 'zod'
import type { Prisma } from '../../generated/prisma/client.ts'
import { AlertChange, MonitorState } from '../../generated/prisma/enums.ts'

/**
 * Why a message mentions an alert. CHANGE: its monitor changed; FLAPPING: it changes too often to report each change; REMINDER: it
 * is still open; ESCALATION: it was not acknowledged in time; ACKNOWLEDGED: it was acknowledged; CLOSED: it ended, although the
 * monitor is not up; TEST: there is no alert.
 */
const subjects = ['CHANGE', 'FLAPPING', 'REMINDER', 'ESCALATION', 'ACKNOWLEDGED', 'CLOSED', 'TEST'] as const

const item = z.object({
  alertId: z.string(),
  about: z.enum(subjects),
  change: z.enum(AlertChange),
  monitor: z.object({ id: z.string(), name: z.string() }),
  state: z.enum(MonitorState),
  /** When the monitor entered its state. */
  since: z.coerce.date(),
  /** The reason, from the probe's message. */
  message: z.string(),
  at: z.coerce.date(),
  /** How often the alert has begun. */
  count: z.int(),
  /** How long the alert lasted, in milliseconds; null: it is open. */
  lastedMs: z.number().nullable(),
  /** Who acknowledged it; null: not acknowledged. */
  by: z.string().nullable(),
})

/** One alert as a message reports it. */
export type AlertItem = z.infer<typeof item>

/** Parses the stored items of a delivery. @throws ZodError for malformed data, which is a bug. */
export const readItems = (value: Prisma.JsonValue): AlertItem[] => z.array(item).parse(value)

/** Serializes items for the database; `readItems` restores their dates. */
export const serializeItems = (items: readonly AlertItem[]): string => JSON.stringify(items)

/** Returns whether an item reports the end of its alert. */
export const isOver = ({ change, about }: Pick<AlertItem, 'change' | 'about'>): boolean =>
  about === 'CLOSED' || change === 'UP' || change === 'DELISTED' || change === 'BUDGET_RECOVERED'
