// @slow
import { afterEach, describe, expect, test, vi } from 'vitest'
import { readYaml } from '../../src/configuration/yaml-text.ts'

afterEach(() => void vi.restoreAllMocks())

const keys = (count: number) => Array.from({ length: count }, (_, index) => `key${index}: ${index}`)

describe('a key that an object has twice', () => {
  test.each([
    ['a: 1\nb: 2\na: 3', [3]],
    ['a: { b: 1, c: 2, b: 3 }', [1]],
    ['a:\n  - b: 1\n    b: 2\n    b: 3', [3, 4]],
    ['1: a\n"1": b', [2]],
    ['? a\n: 1\n? "a"\n: 2', [3]],
    [': 1\n~: 2', [2]],
    ['x: &x\n  a: 1\n  a: 2\ny: *x', [3]],
    ['a: 1\na: 2\nb: @c', [2, 3]],
    [Array.from({ length: 20 }, () => 'a: 1').join('\n'), [2, 3, 4, 5, 6]],
  ])('is refused with its line: %j', (text, lines) => {
    for (const merges of [false, true]) {
      const read = readYaml(text, { merges })
      expect(Array.isArray(read) ? read.map(({ line }) => line) : read).toEqual(lines)
    }
  })

  test('may stand in different objects, and override a merged one', () => {
    expect(readYaml('a: { b: 1 }\nc: { b: 1 }')).toMatchObject({ value: { a: { b: 1 }, c: { b: 1 } } })
    const text = 'x: &x { a: 1 }\ny: &y { b: 2 }\nz:\n  <<: *x\n  <<: *y\n  a: 3'
    expect(readYaml(text, { merges: true })).toMatchObject({ value: { z: { a: 3, b: 2 } } })
  })

  test('is found among 100,000 keys', () => {
    expect(readYaml([...keys(99_999), 'key0: 0'].join('\n'))).toEqual([
      { path: [], message: 'repeats a key', line: 100_000 },
    ])
  })

  test.each([
    ['in a block', (lines: readonly string[]) => lines.join('\n')],
    ['in braces', (lines: readonly string[]) => `{ ${lines.join(', ')} }`],
  ])('is looked for in linear time, %s', (_, write) => {
    /** Returns how many items of lists the search methods were given. */
    const searched = (count: number) => {
      let items = 0
      for (const method of ['some', 'find', 'findIndex', 'every', 'filter'] as const) {
        const original = Array.prototype[method] as (...given: unknown[]) => unknown
        vi.spyOn(Array.prototype, method).mockImplementation(function (this: unknown[], ...given: unknown[]) {
          items += this.length
          return original.apply(this, given) as never
        } as never)
      }
      const read = readYaml(write(keys(count)))
      vi.restoreAllMocks()
      expect('lines' in read && read.lines.size).toBe(count)
      return items
    }
    // The parser’s own check compares each pair: n² / 2 items.
    const [some, more] = [searched(500), searched(2000)]
    expect(more).toBeLessThan(2000 * 50)
    expect(more).toBeLessThanOrEqual(some * 5 + 1000)
  })
})
