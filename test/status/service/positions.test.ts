import { describe, expect, test } from 'vitest'
import { movedByOne, placedWithin } from '../../../src/status/service/positions.ts'

describe('a part of an order', () => {
  test.each([
    [
      ['a', 'b', 'c', 'd'],
      ['d', 'a'],
      ['d', 'b', 'c', 'a'],
    ],
    [
      ['a', 'b', 'c'],
      ['c', 'b', 'a'],
      ['c', 'b', 'a'],
    ],
    [['a', 'b', 'c'], [], ['a', 'b', 'c']],
  ])('of %j, %j gives %j', (all, part, expected) => {
    expect(placedWithin(all, part)).toEqual(expected)
  })
})

describe('moving one', () => {
  const all = ['a', 'x', 'b', 'y', 'c']
  const siblings = ['a', 'b', 'c']
  test.each([
    ['b', 'up', ['b', 'x', 'a', 'y', 'c']],
    ['b', 'down', ['a', 'x', 'c', 'y', 'b']],
    ['a', 'up', all],
    ['c', 'down', all],
    ['z', 'down', all],
  ] as const)('%s %s', (id, to, expected) => {
    expect(movedByOne(all, siblings, id, to)).toEqual(expected)
  })
})
