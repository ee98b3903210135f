import type { DueTimes } from '../database/lease/set-back.ts'

/** The due times that move when the clock was set back: whoever does the work finds out again whether it is due. */
export const statusDueTimes: readonly DueTimes[] = [
  { table: 'Maintenance', dueColumn: 'dueAt' },
  { table: 'MaintenanceSeries', dueColumn: 'dueAt' },
]
