/**
 * Returns the median of some figures.
 * @throws RangeError when there are none.
 */
export function median(values: readonly number[]): number {
  const middle = values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]
  if (middle === undefined) throw new RangeError('There is no middle of nothing')
  return middle
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
export function verdict(what: string, value: number, target: { readonly most: number } | { readonly least: number }) {
  const [met, wanted] =
    'most' in target
      ? [value <= target.most, `at most ${target.most}`]
      : [value >= target.least, `at least ${target.least}`]
  line(`=> ${what}: ${value.toFixed(2)} (target: ${wanted}): ${met ? 'met' : 'NOT MET'}`)
}
