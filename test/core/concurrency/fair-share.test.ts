import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fairShare } from '../../../src/core/concurrency/fair-share.ts'

/** Lets greedy owners take turns until none may take more. Returns how many places each holds. */
function fill(capacity: number, owners: readonly string[]): Map<string, number> {
  const held = new Map<string, number>()
  for (let turn = 0; turn < 100; turn += 1) {
    for (const owner of owners) {
      const { limit, full } = fairShare(capacity, held)
      if (!full.includes(owner) && limit > 0) held.set(owner, (held.get(owner) ?? 0) + limit)
    }
  }
  return held
}

test('a lone owner gets a third to a half', () => {
  for (const capacity of [8, 64, 128, 528, 1000]) {
    const taken = fill(capacity, ['a']).get('a') ?? 0
    expect(taken).toBeGreaterThanOrEqual(Math.floor(capacity / 3))
    expect(taken).toBeLessThanOrEqual(capacity / 2)
  }
})

test('however many owners are greedy, another one finds room', () => {
  for (const count of [1, 2, 3, 5, 10]) {
    const owners = Array.from({ length: count }, (_, index) => `owner ${index}`)
    const { limit, full } = fairShare(1000, fill(1000, owners))
    expect(full).toEqual(owners)
    expect(limit).toBeGreaterThanOrEqual(5)
  }
})

test('no order of taking and leaving lets an owner hold more than half', () => {
  const moves = fc.array(fc.record({ owner: fc.integer({ min: 0, max: 4 }), leaves: fc.boolean() }), { maxLength: 200 })
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 300 }), moves, (capacity, all) => {
      const held = new Map<string, number>()
      for (const { owner, leaves } of all) {
        const name = `owner ${owner}`
        const now = held.get(name) ?? 0
        const { limit, full } = fairShare(capacity, held)
        if (leaves) held.set(name, Math.floor(now / 2))
        else if (!full.includes(name)) held.set(name, now + limit)
        const counts = [...held.values()]
        expect(Math.max(...counts)).toBeLessThanOrEqual(capacity / 2)
        expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(capacity)
      }
    }),
  )
})

test('a full capacity admits nobody', () => {
  expect(
    fairShare(
      2,
      new Map([
        ['a', 1],
        ['b', 1],
      ]),
    ),
  ).toEqual({ limit: 0, full: ['a', 'b'] })
})
