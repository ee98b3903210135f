/** A figure of a bench: what it is, its value, and the value that it should have at most or at least. */
export interface Figure {
  readonly bench: string
  readonly what: string
  readonly value: number
  readonly target: Target
}

export type Target = { readonly most: number } | { readonly least: number }

/** A recorded figure: the last value, that before it, and when and at which commit it was measured. */
export interface Entry extends Figure {
  readonly before: number | null
  /** A day in UTC, such as `2026-11-28`. */
  readonly day: string
  /** The first characters of the commit's hash. */
  readonly commit: string
}

/** How much worse a figure may be than the last entry before `fallen` names it: a fifth. */
const TOLERANCE = 0.2

const HEAD = ['| bench | figure | target | value | before | day | commit |', '|---|---|---|---|---|---|---|']
const ROW =
  /^\| (?<bench>[\w-]+) \| (?<what>.+?) \| (?<limit>most|least) (?<bound>[\d.]+) \| (?<value>[\d.]+) \| (?<before>[\d.]+|–) \| (?<day>\d{4}-\d\d-\d\d) \| (?<commit>[\da-f]+) \|$/

/** Reads the entries of a document that `writeLedger` wrote. */
export function readLedger(document: string): Entry[] {
  return document.split('\n').flatMap((row) => {
    const found = ROW.exec(row)?.groups
    if (found === undefined) return []
    const bound = Number(found['bound'])
    return {
      ...{ bench: `${found['bench']}`, what: `${found['what']}`, value: Number(found['value']) },
      target: found['limit'] === 'most' ? { most: bound } : { least: bound },
      before: found['before'] === '–' ? null : Number(found['before']),
      ...{ day: `${found['day']}`, commit: `${found['commit']}` },
    }
  })
}

/**
 * Returns the document with new figures in its table, sorted by bench. Figures that were not measured anew stay; those of a
 * measured bench that it no longer has are dropped.
 * @throws RangeError when the document has no table, or two figures of a bench have one name.
 */
export function writeLedger(
  document: string,
  figures: readonly Figure[],
  measured: { readonly day: string; readonly commit: string },
): string {
  const keys = figures.map(keyOf)
  const twice = keys.find((key, index) => keys.indexOf(key) !== index)
  if (twice !== undefined) throw new RangeError(`Two figures are named ${twice}`)
  const known = new Map(readLedger(document).map((entry) => [keyOf(entry), entry]))
  const benches = new Set(figures.map(({ bench }) => bench))
  const entries = [
    ...[...known.values()].filter(({ bench }) => !benches.has(bench)),
    ...figures.map((figure) => ({ ...figure, ...measured, before: known.get(keyOf(figure))?.value ?? null })),
  ]
  const rows = entries.toSorted((left, right) => left.bench.localeCompare(right.bench)).map(rowOf)
  const start = document.indexOf(HEAD.join('\n'))
  if (start === -1) throw new RangeError('The document has no table of figures')
  const [table = ''] = document.slice(start).split('\n\n')
  return `${document.slice(0, start)}${[...HEAD, ...rows].join('\n')}${document.slice(start + table.trimEnd().length)}`
}

/** Returns the figures that are worse than their last entry by more than a fifth, with that entry. */
export function fallen(
  entries: readonly Entry[],
  figures: readonly Figure[],
): { readonly figure: Figure; readonly last: Entry }[] {
  return figures.flatMap((figure) => {
    const last = entries.find((entry) => keyOf(entry) === keyOf(figure))
    return last !== undefined && isWorse(figure, last.value) ? { figure, last } : []
  })
}

function isWorse({ value, target }: Figure, last: number): boolean {
  return 'most' in target ? value > last * (1 + TOLERANCE) : value < last * (1 - TOLERANCE)
}

const keyOf = ({ bench, what }: Figure) => `${bench} | ${what}`

function rowOf({ bench, what, target, value, before, day, commit }: Entry): string {
  const aim = 'most' in target ? `most ${target.most}` : `least ${target.least}`
  return `| ${bench} | ${what} | ${aim} | ${rounded(value)} | ${before === null ? '–' : rounded(before)} | ${day} | ${commit} |`
}

/** Figures have three digits; more would only be noise. */
const rounded = (value: number) => Number(value.toPrecision(3))
