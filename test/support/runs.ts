import { execFileSync } from 'node:child_process'

/** As in CI, on the later Node and in the largest browser tests. */
export const isThorough = Boolean(process.env['THOROUGH_TESTS'])

/**
 * What chooses samples and random cases, in hexadecimal: the commit, so that each gives one result on any day. Set
 * `SAMPLE_SEED` to repeat the run of another commit. Workers inherit it from the process that started them.
 */
export const sampleSeed = process.env['SAMPLE_SEED'] || currentCommit()
process.env['SAMPLE_SEED'] = sampleSeed
if (!/^[\da-f]+$/.test(sampleSeed)) throw new Error(`SAMPLE_SEED is ${sampleSeed}, but must be hexadecimal.`)

/** The seed as a number of 32 bits. */
export const sampleNumber = Number.parseInt(sampleSeed.slice(0, 8), 16)

/** Returns the start of the commit's hash; without git or its folder always the same. */
function currentCommit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return '0'
  }
}

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
 * Returns the cases of a slow test to try: with `THOROUGH_TESTS` all, otherwise one of three, and others at
 * another commit, or on a server.
 */
export function sample<Case>(cases: readonly Case[]): Case[] {
  return cases.filter((_, index) => isInSample(index))
}

/** Like `sample`, for the case with this number, if cases are found one after the other. */
export function isInSample(index: number): boolean {
  return isThorough || (index + sampleNumber + onServer) % SAMPLE === 0
}

/**
 * Returns the combinations of cases and endpoints to try: with `THOROUGH_TESTS` each case at every endpoint, otherwise
 * each at one, and at another one at another commit, or on a server.
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
  const door = doors[(index + sampleNumber + onServer) % doors.length]
  return isThorough || door === undefined ? doors : [door]
}

/** Returns the cases of `doorsOf` to try at one of the endpoints. */
export function casesAt<Case, Door>(door: Door, cases: readonly Case[], doors: readonly Door[]): Case[] {
  return doorsOf(cases, doors).flatMap(([each, tried]) => (tried.includes(door) ? [each] : []))
}
