import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const sheets = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.css'))
  .map((path) => ({ path, css: readFileSync(join('src', path), 'utf8') }))
/** Returns the steps that a sheet defines, by name. */
const stepsOf = (css: string) =>
  Array.from(css.matchAll(/^\s*(--text[\w-]*): ([^;]+);/gm), ([, name, size]) => [name, size])
const scale = new Map(stepsOf(sheets.find(({ path }) => path.endsWith('style.css'))?.css ?? '').map(([a, b]) => [a, b]))

test.each(sheets)('all text of $path has a size of the common scale', ({ css }) => {
  const sizes = Array.from(
    css.matchAll(/font-size:\s*([^;]+);|font:\s*(?:\d+\s+)?([^\s;]+)/g),
    ([, size, short]) => size ?? short ?? '',
  )
  // Relative sizes, zero, or sizes for print.
  const free = /^(?:inherit|[\d.]+em|0|[\d.]+pt)$/
  expect(sizes.filter((size) => !free.test(size) && !scale.has(/^var\((--[\w-]+)\)$/.exec(size)?.[1]))).toEqual([])
})

test('standalone sheets repeat the steps that they use unchanged', () => {
  expect(scale.size).toBeGreaterThan(5)
  for (const { path, css } of sheets) {
    for (const [name, size] of stepsOf(css)) expect([path, name, size]).toEqual([path, name, scale.get(name)])
  }
})
