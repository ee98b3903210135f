import type { InputRef, ObjectRef, OutputRef } from '@pothos/core'
import { requireScope } from '../../core/access.ts'
import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import { outcomesSerializer, withIdempotencyKey } from '../../core/idempotency.ts'
import type { Outcome } from '../../core/outcome.ts'
import { isRefused } from '../../core/outcome.ts'
import type { BulkMode, ChunkRunner } from '../../event-log/bulk.ts'
import { bulk, type bulkModes, MAX_ITEMS } from '../../event-log/bulk.ts'
import { costs } from '../document/cost.ts'
import type { GraphContext, RoomContext } from './builder.ts'
import { builder } from './builder.ts'
import { IDEMPOTENCY_KEY } from './idempotent-mutation.ts'

const BulkModeRef = builder.enumType('BulkMode', {
  description: 'What happens to the other items when one is rejected.',
  values: {
    ATOMIC: { description: 'All items are applied, or none.' },
    EACH: { description: 'Each item succeeds or fails independently.' },
  } as const satisfies Record<(typeof bulkModes)[number], object>,
})

const MODE = 'What happens to the other items when one is rejected. Default: ATOMIC.'

type Types = typeof builder.$inferSchemaTypes

/** The outcome of one item of a bulk call. */
interface Item<T> {
  readonly index: number
  readonly outcome: Outcome<T>
}

/** A mutation that applies a single mutation to many items. */
interface BulkMutation<C, T, I> {
  readonly description: string
  /** The result type of the single mutation. */
  readonly type: OutputRef<T>
  /** The errors of the single mutation. */
  readonly errors: readonly (new (
    ...args: never[]
  ) => Error)[]
  /** The work of the single mutation. */
  readonly work: (ctx: C, item: I) => Promise<T>
}

type Bulk<T, I> = BulkMutation<GraphContext, T, I>

/** What adds mutations of many items. */
interface BulkBuilder<C> {
  /** Adds a mutation whose `items` are inputs of the single mutation. */
  bulkMutation<T>(name: string, item: InputRef<unknown>, mutation: BulkMutation<C, T, unknown>): void
  /** Like `bulkMutation`, for a mutation that creates rows: its input has an idempotency key. */
  bulkCreation<T extends { readonly id: string }>(
    name: string,
    item: InputRef<unknown>,
    mutation: BulkMutation<C, T, unknown>,
  ): void
  /** Adds a mutation whose input has the `ids` of objects. */
  bulkMutationOfIds<T>(name: string, mutation: BulkMutation<C, T, string>): void
}

/** Returns what adds mutations of many items to a room whose builder is `builderFor<Needs>()`. */
export function bulkFor<Needs>(): BulkBuilder<RoomContext<Needs>> {
  return { bulkMutation, bulkCreation, bulkMutationOfIds } as BulkBuilder<RoomContext<Needs>>
}

function bulkMutation<T>(name: string, item: InputRef<unknown>, mutation: Bulk<T, unknown>): void {
  addBulkMutation(name, item, mutation, (ctx, { items, mode }) => run(ctx, items, mode, mutation))
}

function bulkCreation<T extends { readonly id: string }>(
  name: string,
  item: InputRef<unknown>,
  mutation: Bulk<T, unknown>,
): void {
  addBulkMutation(name, item, mutation, (ctx, input) => {
    const { items, mode, idempotencyKey: key } = input
    const memory = outcomesSerializer<T>(ctx)
    const part: ChunkRunner<GraphContext, T> = (index, work) =>
      withIdempotencyKey(ctx, { operation: name, input, key, part: index }, memory, work)
    return run(ctx, items, mode, mutation, part)
  })
}

interface BulkInput {
  readonly items: readonly unknown[]
  readonly mode: BulkMode
  readonly idempotencyKey?: string | null | undefined
}

function addBulkMutation<T>(
  name: string,
  item: InputRef<unknown>,
  mutation: Bulk<T, unknown>,
  resolve: (ctx: GraphContext, input: BulkInput) => Promise<Payload<T>>,
): void {
  const input = builder.inputType(`${capitalize(name)}Input`, {
    description: `The input of \`${name}\`.`,
    fields: (t) => ({
      items: t.field({ type: [item], description: `The items, at most ${MAX_ITEMS}.` }),
      mode: t.field({ type: BulkModeRef, defaultValue: 'ATOMIC', description: MODE }),
      ...(name.startsWith('create') && { idempotencyKey: t.string(IDEMPOTENCY_KEY) }),
    }),
  })
  const payload = payloadOf(name, mutation)
  builder.mutationField(name, (t) =>
    t.field({
      type: payload,
      description: mutation.description,
      args: { input: t.arg({ type: input }) },
      errors: { types: [Invalid, NotFound, Conflict] },
      extensions: costs({ items: ({ input }) => lengthOf(input, 'items') }),
      resolve: (_root, { input }, ctx) => resolve(ctx, input),
    }),
  )
}

function bulkMutationOfIds<T>(name: string, mutation: Bulk<T, string>): void {
  const input = builder.inputType(`${capitalize(name)}Input`, {
    description: `The input of \`${name}\`.`,
    fields: (t) => ({
      ids: t.idList({ description: `The items, at most ${MAX_ITEMS}.` }),
      mode: t.field({ type: BulkModeRef, defaultValue: 'ATOMIC', description: MODE }),
    }),
  })
  const payload = payloadOf(name, mutation)
  builder.mutationField(name, (t) =>
    t.field({
      type: payload,
      description: mutation.description,
      args: { input: t.arg({ type: input }) },
      errors: { types: [Invalid] },
      extensions: costs({ items: ({ input }) => lengthOf(input, 'ids') }),
      resolve: (_root, { input }, ctx) => run(ctx, input.ids, input.mode, mutation),
    }),
  )
}

interface Payload<T> {
  readonly results: readonly Item<T>[]
}

function payloadOf<T>(name: string, { type, errors }: Pick<Bulk<T, never>, 'type' | 'errors'>) {
  const item = builder.objectRef<Item<T>>(`${capitalize(name)}Item`).implement({
    description: `The result of one item of \`${name}\`.`,
    fields: (t) => ({
      index: t.exposeInt('index', { description: 'The item’s index in the input, from 0.' }),
      result: t.field({
        type: type as OutputRef<object> as ObjectRef<Types, object>,
        description: 'The result of the item.',
        errors: {
          types: [...new Set([...errors, Conflict])],
          union: { name: `${capitalize(name)}ItemResult`, description: `An item’s result, or why it was rejected.` },
        },
        resolve: ({ outcome }) => {
          if (isRefused(outcome)) throw outcome
          return outcome as object
        },
      }),
    }),
  })
  return builder.objectRef<Payload<T>>(`${capitalize(name)}Payload`).implement({
    description: `The results of \`${name}\`.`,
    fields: (t) => ({
      results: t.expose('results', {
        type: [item],
        // The mutation's cost already includes the number of items.
        extensions: costs({ items: 1 }),
        description: 'One result per item, in input order.',
      }),
      refused: t.int({
        description: 'How many items were rejected.',
        resolve: ({ results }) => results.filter(({ outcome }) => isRefused(outcome)).length,
      }),
    }),
  })
}

async function run<T, I>(
  ctx: GraphContext,
  items: readonly I[],
  mode: BulkMode,
  { work }: Bulk<T, I>,
  part?: ChunkRunner<GraphContext, T>,
): Promise<Payload<T>> {
  const outcomes = await bulk(ctx, requireScope(ctx, 'WRITE'), { items, mode, part }, work)
  return { results: outcomes.map((outcome, index) => ({ index, outcome })) }
}

/** Returns the number of items in an input that the schema has validated. */
function lengthOf(input: unknown, name: 'items' | 'ids'): number {
  const list = (input as Partial<Record<typeof name, readonly unknown[]>>)[name]
  return Math.max(list?.length ?? 0, 1)
}

const capitalize = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)
