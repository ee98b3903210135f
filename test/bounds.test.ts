import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { bounds } from './support/house/bounds.ts'
import { tableNames } from './support/house/tables.ts'

test('every table has a bound that keeps tenants and strangers from making it grow without an end', () => {
  expect(Object.keys(bounds).sort()).toEqual([...tableNames].sort())
})

test.each(Object.entries(bounds))('%s: what bounds it exists', (table, bound) => {
  if ('parent' in bound) {
    expect(Object.keys(bounds)).toContain(bound.parent)
    expect(bound.parent).not.toBe(table)
  } else if ('in' in bound) {
    const [constant] = Object.values(bound)
    expect(readFileSync(bound.in, 'utf8')).toContain(constant)
  }
})
