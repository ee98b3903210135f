/** The most rows that a statement deletes because they are old, so that others do not wait for it: about 10 ms. */
export const DELETE_BATCH = 1000

/** Called with the number of rows of a table that were deleted because they were old. */
export type CountDeleted = (table: string, rows: number) => void

/** Counts nothing. */
export const uncounted: CountDeleted = () => {}
