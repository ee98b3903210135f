import type { DueTimes } from '../database/lease/set-back.ts'

/** The due times that move when the clock was set back: whoever does the work finds out again whether it is due. */
export const billingDueTimes: readonly DueTimes[] = [{ table: 'CheckPlanInvoice', dueColumn: 'dueAt' }]
