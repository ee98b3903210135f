import type { InputRef, ObjectRef } from '@pothos/core'
import { requireScope } from '../account/access.ts'
import { Conflict, Invalid, NotFound } from '../errors.ts'
import type { BulkMode, Outcome, Part } from '../eventlog/bulk.ts'
import { bulk, type bulkModes, MOST_ITEMS } from '../eventlog/bulk.ts'
import { once, outcomesMemory } from '../idempotency.ts'
import type { GraphContext } from './builder.ts'
import { builder } from './builder.ts'
import { costs } from './cost.ts'
import { IDEMPOTENCY_KEY } from './once.ts'

const BulkModeRef = builder.enumType('BulkMode', {
  description: 'What becomes of the other items of a call when one is refused.',
  values: {
    ATOMIC: { description: 'All items are done, or none.' },
    EACH: { description: 'Each item is done or refused by itself.' },
  } as const satisfies Record<(typeof bulkModes)[number], object>,
})

type Types = typeof builder.$inferSchemaTypes

/** An item of a call, as it is answered. */
interface Item<T> {
  readonly index: number
  readonly outcome: Outcome<T>
}

/** A mutation that does to many things what another does to one. */
interface BulkMutation<T, I> {
  readonly description: string
  /** What the mutation of one thing gives. */
  readonly type: ObjectRef<Types, T>
  /** How the mutation of one thing may refuse. */
  readonly errors: readonly (new (
    ...args: never[]
  ) => Error)[]
  /** What the mutation of one thing does. */
  readonly work: (ctx: GraphContext, item: I) => Promise<T>
}

/** Adds a mutation whose `items` are inputs as the mutation of one thing takes them. */
export function bulkMutation<T>(name: string, item: InputRef<unknown>, mutation: BulkMutation<T, unknown>): void {
  addBulkMutation(name, item, mutation, (ctx, { items, mode }) => run(ctx, items, mode, mutation))
}

/** As `bulkMutation`, of one that makes rows: its input takes an idempotency key. */
export function bulkCreation<T extends { readonly id: string }>(
  name: string,
  item: InputRef<unknown>,
  mutation: BulkMutation<T, unknown>,
): void {
  addBulkMutation(name, item, mutation, (ctx, input) => {
    const { items, mode, idempotencyKey: key } = input
    const memory = outcomesMemory<T>(ctx)
    const part: Part<GraphContext, T> = (index, work) =>
      once(ctx, { operation: name, input, key, part: index }, memory, work)
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
  mutation: BulkMutation<T, unknown>,
  resolve: (ctx: GraphContext, input: BulkInput) => Promise<Payload<T>>,
): void {
  const input = builder.inputType(`${capital(name)}Input`, {
    description: `The items of \`${name}\`.`,
    fields: (t) => ({
      items: t.field({ type: [item], description: `At most ${MOST_ITEMS}.` }),
      mode: t.field({ type: BulkModeRef, defaultValue: 'ATOMIC', description: 'Absent: ATOMIC.' }),
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

/** Adds a mutation of the things that have the `ids` of its input. */
export function bulkMutationOfIds<T>(name: string, mutation: BulkMutation<T, string>): void {
  const input = builder.inputType(`${capital(name)}Input`, {
    description: `The items of \`${name}\`.`,
    fields: (t) => ({
      ids: t.idList({ description: `At most ${MOST_ITEMS}.` }),
      mode: t.field({ type: BulkModeRef, defaultValue: 'ATOMIC', description: 'Absent: ATOMIC.' }),
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

function payloadOf<T>(name: string, { type, errors }: Pick<BulkMutation<T, never>, 'type' | 'errors'>) {
  const item = builder.objectRef<Item<T>>(`${capital(name)}Item`).implement({
    description: `What came of one item of \`${name}\`.`,
    fields: (t) => ({
      index: t.exposeInt('index', { description: 'Its place in the input, from 0.' }),
      result: t.field({
        type: type as ObjectRef<Types, object>,
        description: 'What the mutation of one gives.',
        errors: {
          types: [...new Set([...errors, Conflict])],
          union: { name: `${capital(name)}ItemResult`, description: `What one item of \`${name}\` gives.` },
        },
        resolve: ({ outcome }) => {
          if ('error' in outcome) throw outcome.error
          return outcome.value as object
        },
      }),
    }),
  })
  return builder.objectRef<Payload<T>>(`${capital(name)}Payload`).implement({
    description: `What came of \`${name}\`.`,
    fields: (t) => ({
      results: t.expose('results', {
        type: [item],
        // The mutation has been multiplied by the number of items.
        extensions: costs({ items: 1 }),
        description: 'One for each item, in their order.',
      }),
      refused: t.int({
        description: 'How many items were refused.',
        resolve: ({ results }) => results.filter(({ outcome }) => 'error' in outcome).length,
      }),
    }),
  })
}

async function run<T, I>(
  ctx: GraphContext,
  items: readonly I[],
  mode: BulkMode,
  { work }: BulkMutation<T, I>,
  part?: Part<GraphContext, T>,
): Promise<Payload<T>> {
  const outcomes = await bulk(ctx, requireScope(ctx, 'WRITE'), { items, mode, part }, work)
  return { results: outcomes.map((outcome, index) => ({ index, outcome })) }
}

/** How many items an input has, which the schema knows to have them. */
function lengthOf(input: unknown, name: 'items' | 'ids'): number {
  const list = (input as Partial<Record<typeof name, readonly unknown[]>>)[name]
  return Math.max(list?.length ?? 0, 1)
}

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)
