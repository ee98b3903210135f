/**
 * How many cases a property test tries that needs a database for each: few, which find the faults that were planted to try it,
 * or with `THOROUGH_TESTS`, as in CI on a PostgreSQL server, many.
 */
export function runs(few: number, many: number): { readonly numRuns: number } {
  return { numRuns: process.env['THOROUGH_TESTS'] ? many : few }
}
