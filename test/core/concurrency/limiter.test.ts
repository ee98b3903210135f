import { expect, test } from 'vitest'
import { createLimiter } from '../../../src/core/concurrency/limiter.ts'

/** Creates pieces of work that the test ends, and records the names of those that have started. */
function pieces() {
  const started: string[] = []
  const ends = new Map<string, { resolve: () => void; reject: (error: Error) => void }>()
  const piece = (name: string) => () =>
    new Promise<string>((resolve, reject) => {
      started.push(name)
      ends.set(name, { resolve: () => resolve(name), reject })
    })
  return {
    started,
    piece,
    end: (name: string) => ends.get(name)?.resolve(),
    fail: (name: string) => ends.get(name)?.reject(new Error(name)),
  }
}

test('runs up to the limit at once, and the rest in the order of the calls', async () => {
  const { started, piece, end } = pieces()
  const run = createLimiter({ atOnce: 2 })
  const results = ['a', 'b', 'c', 'd'].map((name) => run(piece(name)))
  expect(started).toEqual(['a', 'b'])
  end('b')
  await expect(results[1]).resolves.toBe('b')
  await expect.poll(() => started).toEqual(['a', 'b', 'c'])
  end('a')
  end('c')
  await expect.poll(() => started).toEqual(['a', 'b', 'c', 'd'])
  end('d')
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd'])
})

test('a failure reaches its caller only', async () => {
  const { started, piece, end, fail } = pieces()
  const run = createLimiter({ atOnce: 1 })
  const [failing, next] = [run(piece('a')), run(piece('b'))]
  fail('a')
  await expect(failing).rejects.toThrow('a')
  await expect.poll(() => started).toEqual(['a', 'b'])
  end('b')
  await expect(next).resolves.toBe('b')
  const synchronous = run(() => {
    throw new Error('at once')
  })
  await expect(synchronous).rejects.toThrow('at once')
  const last = run(piece('c'))
  end('c')
  await expect(last).resolves.toBe('c')
})

test('a later call does not overtake waiting ones', async () => {
  const { started, piece, end } = pieces()
  const run = createLimiter({ atOnce: 1 })
  const first = run(piece('a'))
  const second = run(piece('b'))
  end('a')
  await first
  const third = run(piece('c'))
  end('b')
  await second
  end('c')
  await third
  expect(started).toEqual(['a', 'b', 'c'])
})

test('refuses calls beyond the waiting limit', async () => {
  const { piece, end } = pieces()
  const run = createLimiter({ atOnce: 1, maxWaiting: 1, refusal: () => new Error('full') })
  const [first, second, third] = [run(piece('a')), run(piece('b')), run(piece('c'))]
  await expect(third).rejects.toThrow('full')
  end('a')
  await first
  await expect.poll(() => end('b')).toBe(undefined)
  await second
})

test('owners take turns, and none has more than half of the slots and of the places', async () => {
  const { started, piece, end } = pieces()
  const run = createLimiter({ atOnce: 2, maxWaiting: 4, refusal: () => new Error('full') })
  const flood = ['a1', 'a2', 'a3', 'a4'].map((name) => run(piece(name), 'a').catch(({ message }: Error) => message))
  expect(started).toEqual(['a1'])
  expect(await flood[3]).toBe('full')
  const others = [run(piece('b1'), 'b'), run(piece('c1'), 'c'), run(piece('b2'), 'b')]
  expect(started).toEqual(['a1', 'b1'])
  await expect(run(piece('d1'), 'd')).rejects.toThrow('full')
  end('b1')
  await expect.poll(() => started).toEqual(['a1', 'b1', 'c1'])
  end('c1')
  await expect.poll(() => started).toEqual(['a1', 'b1', 'c1', 'b2'])
  end('b2')
  await Promise.all(others)
  expect(started).toHaveLength(4)
  end('a1')
  await expect.poll(() => started.at(-1)).toBe('a2')
  end('a2')
  await expect.poll(() => started.at(-1)).toBe('a3')
  end('a3')
  expect(await Promise.all(flood)).toEqual(['a1', 'a2', 'a3', 'full'])
})

test('one slot goes from owner to owner', async () => {
  const { started, piece, end } = pieces()
  const run = createLimiter({ atOnce: 1 })
  const all = ['a1', 'a2', 'a3', 'b1', 'c1'].map((name) => run(piece(name), name.charAt(0)))
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3']) {
    await expect.poll(() => started.at(-1)).toBe(name)
    end(name)
  }
  await Promise.all(all)
})
