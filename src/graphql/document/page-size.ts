/** The default and the maximum number of rows per page. */
export const PAGE_SIZE = { default: 20, max: 100 } as const
