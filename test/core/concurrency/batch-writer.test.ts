import { describe, expect, test } from 'vitest'
import { type BatchWriterOptions, createBatchWriter } from '../../../src/core/concurrency/batch-writer.ts'

/** Longer than any test: a batch is only written for another reason. */
const NEVER_MS = 1_000_000

/** A writer whose writes the test ends. */
function setUp(options: Partial<BatchWriterOptions<number>> = {}) {
  const batches: number[][] = []
  const ends: ((again?: number[]) => void)[] = []
  const writer = createBatchWriter<number>({
    full: 3,
    gatherMs: NEVER_MS,
    firstGatherMs: null,
    write(batch) {
      batches.push([...batch])
      return new Promise((resolve) => ends.push(resolve))
    },
    ...options,
  })
  const add = (...items: number[]) => {
    for (const item of items) writer.add(item)
  }
  return { writer, batches, add, end: (again?: number[]) => ends.shift()?.(again) }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
/** Lets a writer continue after a write has ended or items have arrived. */
const settled = async () => {
  await turn()
  await turn()
}

describe('a batch', () => {
  test('has the items of one turn of the event loop, and later ones wait for the next batch', async () => {
    const { batches, add, end } = setUp()
    add(1, 2)
    await settled()
    add(3, 4, 5)
    await settled()
    expect(batches).toEqual([[1, 2]])
    end()
    await settled()
    expect(batches).toEqual([
      [1, 2],
      [3, 4, 5],
    ])
  })

  test('is written when it is full, and not before', async () => {
    const { batches, add, end } = setUp({ firstGatherMs: NEVER_MS })
    add(1, 2)
    await settled()
    expect(batches).toEqual([])
    add(3, 4)
    await settled()
    expect(batches).toEqual([[1, 2, 3]])
    end()
    await settled()
    expect(batches).toHaveLength(1)
    add(5, 6)
    await settled()
    expect(batches[1]).toEqual([4, 5, 6])
  })

  test('is written when its time is over', async () => {
    const { writer, batches, add, end } = setUp({ firstGatherMs: 1 })
    add(1)
    while (batches.length === 0) await turn()
    end()
    await writer.idle()
    expect(batches).toEqual([[1]])
  })

  test('with an urgent item is written at once', async () => {
    const { batches, add, end } = setUp({ firstGatherMs: NEVER_MS, isUrgent: (item) => item === 2 })
    add(1)
    await settled()
    add(2)
    await settled()
    expect(batches).toEqual([[1, 2]])
    end()
    await settled()
    add(3)
    await settled()
    expect(batches).toHaveLength(1)
  })

  test('is written at once when a caller waits for the writer to be idle', async () => {
    const { writer, batches, add, end } = setUp({ firstGatherMs: NEVER_MS })
    await writer.idle()
    add(1)
    let isIdle = false
    const idle = writer.idle().then(() => {
      isIdle = true
    })
    await settled()
    expect(batches).toEqual([[1]])
    expect(isIdle).toBe(false)
    expect(writer.writingSince).not.toBe(null)
    end()
    await idle
    expect(writer.writingSince).toBe(null)
  })

  test('can be selected from the items', async () => {
    const { batches, add } = setUp({ take: (waiting) => waiting.splice(1, 1) })
    add(1, 2, 3)
    await settled()
    expect(batches).toEqual([[2]])
  })
})

test('retries are written first', async () => {
  const { batches, add, end } = setUp()
  add(1, 2, 3)
  await settled()
  add(4)
  end([2, 3])
  await settled()
  expect(batches[1]).toEqual([2, 3, 4])
})

test('waiting items can be removed', async () => {
  const { writer, batches, add } = setUp()
  add(1, 2, 3, 4)
  expect(writer.remove((item) => item % 2 === 0)).toEqual([2, 4])
  expect(writer.removeOldest()).toEqual([1])
  expect(writer.waiting).toBe(1)
  await settled()
  expect(batches).toEqual([[3]])
})

test('a batch that lost all its items is not written', async () => {
  const { writer, batches, add } = setUp()
  add(1)
  expect(writer.removeOldest()).toEqual([1])
  expect(writer.removeOldest()).toEqual([])
  await settled()
  expect(batches).toEqual([])
  add(2)
  await settled()
  expect(batches).toEqual([[2]])
})
