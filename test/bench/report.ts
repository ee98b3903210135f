import type { Figure, Target } from './ledger.ts'

/**
 * Returns the median of some figures.
 * @throws RangeError when there are none.
 */
export function median(values: readonly number[]): number {
  const middle = values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]
  if (middle === undefined) throw new RangeError('There is no middle of nothing')
  return middle
}

/** Whether the benches run in short, to see whether a figure has fallen: fewer rounds, and one database where two are alike. */
export const isShort = process.argv.includes('guard')

/** Returns how many rounds to measure: in short, a third, but at least three. */
export function roundsOf(usual: number): number {
  return isShort ? Math.max(3, Math.ceil(usual / 3)) : usual
}

/** The figures with a target that were printed so far. */
export const figures: Figure[] = []
let bench = ''

/** Sets the bench whose figures follow. */
export function begin(name: string): void {
  bench = name
}

/** Prints the title of a bench. */
export function title(text: string): void {
  console.log(`\n${text}`)
}

/** Prints one line of figures. */
export function line(text: string): void {
  console.log(`  ${text}`)
}

/** Prints a figure with its target, and whether it is met. */
export function verdict(what: string, value: number, target: Target): void {
  figures.push({ bench, what, value, target })
  const [met, wanted] =
    'most' in target
      ? [value <= target.most, `at most ${target.most}`]
      : [value >= target.least, `at least ${target.least}`]
  line(`=> ${what}: ${value.toFixed(2)} (target: ${wanted}): ${met ? 'met' : 'NOT MET'}`)
}
