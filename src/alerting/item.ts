import { z } from 'zod'
import type { Prisma } from '../generated/prisma/client.ts'
import { AlertChange, MonitorState } from '../generated/prisma/enums.ts'

/**
 * What an item says of its alert. CHANGE: that its monitor changed; FLAPPING: that it changes too often to tell each time; REMINDER:
 * that it lasts; ESCALATION: that nobody has acknowledged it; ACKNOWLEDGED: that somebody has; CLOSED: that it is over, although the
 * monitor is not up; TEST: nothing.
 */
const subjects = ['CHANGE', 'FLAPPING', 'REMINDER', 'ESCALATION', 'ACKNOWLEDGED', 'CLOSED', 'TEST'] as const

const item = z.object({
  alertId: z.string(),
  about: z.enum(subjects),
  change: z.enum(AlertChange),
  monitor: z.object({ id: z.string(), name: z.string() }),
  state: z.enum(MonitorState),
  /** Since when the monitor has its state. */
  since: z.coerce.date(),
  /** Why, as its probe said. */
  message: z.string(),
  at: z.coerce.date(),
  /** How often the alert began. */
  count: z.int(),
  /** How long it lasted, in milliseconds; null: it lasts. */
  lastedMs: z.number().nullable(),
  /** Who acknowledged it; null: nobody. */
  by: z.string().nullable(),
})

/** What a message says of one alert. */
export type AlertItem = z.infer<typeof item>

/** Reads the stored items of a delivery. @throws Error for malformed data, which is a bug. */
export const readItems = (value: Prisma.JsonValue): AlertItem[] => z.array(item).parse(value)

/** Serializes items for the database; `readItems` reads their dates back. */
export const serializeItems = (items: readonly AlertItem[]): string => JSON.stringify(items)

/** Returns whether an item says that its alert is over. */
export const isOver = ({ change, about }: Pick<AlertItem, 'change' | 'about'>): boolean =>
  about === 'CLOSED' || change === 'UP' || change === 'DELISTED' || change === 'BUDGET_RECOVERED'
