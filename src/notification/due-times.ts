import type { DueTimes } from '../database/lease/set-back.ts'

/** The due times that move when the clock was set back: whoever does the work finds out again whether it is due. */
export const notificationDueTimes: readonly DueTimes[] = [
  { table: 'Delivery', dueColumn: 'dueAt' },
  { table: 'PushDelivery', dueColumn: 'dueAt' },
]
