import { DAY } from '../../src/core/time.ts'

/** As in CI, on the later Node and in the largest browser tests. */
export const isThorough = Boolean(process.env['THOROUGH_TESTS'])

/** The day of the samples, as `SAMPLE_DAY` gives it to repeat an earlier run: today, otherwise. */
export const sampleDay = process.env['SAMPLE_DAY'] || new Date().toISOString().slice(0, 10)

/** The number of that day. */
export const dayNumber = Math.floor(Date.parse(sampleDay) / DAY)
if (Number.isNaN(dayNumber)) throw new Error(`SAMPLE_DAY is ${sampleDay}, but must be a day such as 2026-11-26.`)

/**
 * The number of cases of a slow property test, such as one that needs a database: few, which were enough to find
 * planted bugs, or many with `THOROUGH_TESTS`.
 */
export function runs(few: number, many: number): { readonly numRuns: number } {
  return { numRuns: isThorough ? many : few }
}

/** Runs on the two databases try different cases. */
const onServer = process.env['TEST_DATABASE_URL'] === undefined ? 0 : 1

/** One of this many cases is tried by default. */
const SAMPLE = 3

/**
 * Returns the cases of a slow test to try: with `THOROUGH_TESTS` all, otherwise one of three, and the next ones on the
 * next day, or today on a server.
 */
export function sample<Case>(cases: readonly Case[]): Case[] {
  return cases.filter((_, index) => isInSample(index))
}

/** Like `sample`, for the case with this number, if cases are found one after the other. */
export function isInSample(index: number): boolean {
  return isThorough || (index + dayNumber + onServer) % SAMPLE === 0
}

/**
 * Returns the combinations of cases and endpoints to try: with `THOROUGH_TESTS` each case at every endpoint, otherwise
 * each at one, and at another one on the next day, or today on a server.
 * @returns the endpoints of each case.
 */
export function doorsOf<Case, Door>(
  cases: readonly Case[],
  doors: readonly Door[],
): (readonly [Case, readonly Door[]])[] {
  return cases.map((each, index) => [each, doorsAt(index, doors)])
}

/** Like `doorsOf`, for the case with this number, if cases are found one after the other. */
export function doorsAt<Door>(index: number, doors: readonly Door[]): readonly Door[] {
  const door = doors[(index + dayNumber + onServer) % doors.length]
  return isThorough || door === undefined ? doors : [door]
}

/** Returns the cases of `doorsOf` to try at one of the endpoints. */
export function casesAt<Case, Door>(door: Door, cases: readonly Case[], doors: readonly Door[]): Case[] {
  return doorsOf(cases, doors).flatMap(([each, tried]) => (tried.includes(door) ? [each] : []))
}
