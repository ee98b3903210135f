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

/** One of so many cases is tried where all of them are not. */
const SAMPLE = 3

/**
 * Which of the cases a test tries of which each takes long: with `THOROUGH_TESTS` all, otherwise one of three, and the next ones the
 * next day.
 */
export function sample<Case>(cases: readonly Case[]): Case[] {
  return cases.filter((_, index) => isInSample(index))
}

/** As `sample`, for the case with this number: cases that are found one after the other. */
export function isInSample(index: number): boolean {
  return isThorough || (index + today()) % SAMPLE === 0
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
  return cases.map((each, index) => [each, doorsAt(index, doors)])
}

/** As `doorsOf`, for the case with this number: cases that are found one after the other. */
export function doorsAt<Door>(index: number, doors: readonly Door[]): readonly Door[] {
  const door = doors[(index + today()) % doors.length]
  return isThorough || door === undefined ? doors : [door]
}

/** The number of the day. */
const today = () => Math.floor(Date.now() / DAY)

/** Which of the cases of `doorsOf` a test tries at one of the doors. */
export function casesAt<Case, Door>(door: Door, cases: readonly Case[], doors: readonly Door[]): Case[] {
  return doorsOf(cases, doors).flatMap(([each, tried]) => (tried.includes(door) ? [each] : []))
}
