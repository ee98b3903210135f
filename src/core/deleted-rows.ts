/** The maximum number of old rows that one statement deletes, so that others wait for about 10 ms at most. */
export const DELETE_BATCH = 1000

/** Called with the number of rows of a table that were deleted due to their age. */
export type CountDeleted = (table: string, rows: number) => void

/** Counts nothing. */
export const uncounted: CountDeleted = () => {}
