import { setImmediate as nextLoop } from 'node:timers/promises'
import { buildSchema, execute, isObjectType, parse } from 'graphql'
import { expect, test } from 'vitest'
import { completeListsInSlices } from '../../../src/graphql/execution/list-slicing.ts'
import { batchPerOperation } from '../../../src/graphql/execution/loader.ts'
import type { GraphContext } from '../../../src/graphql/schema/builder.ts'

const COUNT = 300
const document = parse('{ things { number double } }')

function schemaOf(double: (n: number, ctx: GraphContext) => unknown) {
  const schema = buildSchema('type Query { things: [Thing!]! } type Thing { number: Int! double: Int! }')
  const [query, thing] = [schema.getQueryType(), schema.getType('Thing')]
  if (!query || !isObjectType(thing)) throw new Error('The types do not exist.')
  const { things } = query.getFields()
  const fields = thing.getFields()
  if (!things || !fields['number'] || !fields['double']) throw new Error('The fields do not exist.')
  things.resolve = () => Array.from({ length: COUNT }, (_, number) => ({ number }))
  fields['number'].resolve = ({ number }: { number: number }) => {
    // A field that takes time.
    const end = performance.now() + 0.2
    while (performance.now() < end);
    return number
  }
  fields['double'].resolve = ({ number }: { number: number }, _args: unknown, ctx: GraphContext) => double(number, ctx)
  return completeListsInSlices(schema)
}

const expected = { things: Array.from({ length: COUNT }, (_, number) => ({ number, double: 2 * number })) }
// Only its identity matters.
const context = () => ({}) as GraphContext

test('a long list is complete and in order, and other requests are served meanwhile', async () => {
  let over = false
  let others = 0
  void (async () => {
    for (; !over; others++) await nextLoop()
  })()
  const result = await execute({ schema: schemaOf((n) => 2 * n), document, contextValue: context() })
  over = true
  expect(JSON.parse(JSON.stringify(result.data))).toEqual(expected)
  expect(others).toBeGreaterThan(2)
})

test('values that arrive together are completed in slices, and what they read is still batched', async () => {
  const read: number[] = []
  const double = batchPerOperation(async (_ctx, numbers: readonly number[]) => numbers.map((n) => 2 * n))
  const half = batchPerOperation(async (_ctx, numbers: readonly number[]) => {
    read.push(numbers.length)
    return numbers.map((n) => n / 2)
  })
  let completed = 0
  /** The number of values completed at each turn of the event loop. */
  const seen: number[] = []
  const ctx = context()
  const values = Array.from({ length: COUNT }, async (_, n) => {
    const value = await double(ctx, n)
    // Completing it takes time.
    const end = performance.now() + 0.2
    while (performance.now() < end);
    completed += 1
    return half(ctx, value)
  })
  const watching = (async () => {
    for (; completed < COUNT; seen.push(completed)) await nextLoop()
  })()
  expect(await Promise.all(values)).toEqual(Array.from({ length: COUNT }, (_, n) => n))
  await watching
  expect(new Set(seen.filter((count) => count > 0 && count < COUNT)).size).toBeGreaterThan(2)
  expect(read).toEqual([COUNT])
})

test('reads of its items are still batched', async () => {
  const read: number[] = []
  const double = batchPerOperation(async (_ctx, numbers: readonly number[]) => {
    read.push(numbers.length)
    return numbers.map((n) => 2 * n)
  })
  const schema = schemaOf((n, ctx) => double(ctx, n))
  const result = await execute({ schema, document, contextValue: context() })
  expect(JSON.parse(JSON.stringify(result.data))).toEqual(expected)
  expect(read).toEqual([COUNT])
})
