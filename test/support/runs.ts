import { DAY } from '../../src/core/time.ts'

/** As in CI, on a PostgreSQL server and on the later Node. */
const isThorough = Boolean(process.env['THOROUGH_TESTS'])

/**
 * How many cases a property test tries of which each takes long, such as those that need a database: few, which find the faults that
 * were planted to try it, or with `THOROUGH_TESTS` many.
 */
export function runs(few: number, many: number): { readonly numRuns: number } {
  return { numRuns: isThorough ? many : few }
}

/**
 * Which of all combinations of cases and doors a test tries: with `THOROUGH_TESTS` each case at every door, otherwise each at one,
 * and at another one the next day.
 * @returns for each case the doors.
 */
export function doorsOf<Case, Door>(
  cases: readonly Case[],
  doors: readonly Door[],
): (readonly [Case, readonly Door[]])[] {
  const today = Math.floor(Date.now() / DAY)
  return cases.map((each, index) => {
    const door = doors[(index + today) % doors.length]
    return [each, isThorough || door === undefined ? doors : [door]]
  })
}
