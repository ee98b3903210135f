import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as tables from '../../src/core/input-limits.ts'

type Limit = tables.InputLimit

const limits = Object.entries(tables)
  .filter(([name]) => name.endsWith('Limits'))
  .flatMap(([, table]) => Object.values(table as Readonly<Record<string, Limit>>))

/** As a reader counts it: `16 KiB`. */
function shown({ most, unit }: Limit): string {
  if (unit !== 'bytes' || most % 1024 !== 0) return `${most.toLocaleString('en')} ${unit}`
  return most % 1024 ** 2 === 0 ? `${most / 1024 ** 2} MiB` : `${most / 1024} KiB`
}

test('docs/rest.md names every limit of inputs', () => {
  const [, table = ''] =
    /^\| at most \|[^\n]*\n\|[-|]+\|\n((?:\|[^\n]*\n)+)/m.exec(readFileSync('docs/rest.md', 'utf8')) ?? []
  expect(table.trim().split('\n')).toEqual(limits.map((limit) => `| ${shown(limit)} | ${limit.what} |`))
})
