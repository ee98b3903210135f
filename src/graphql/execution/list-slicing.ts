import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql'
import { defaultFieldResolver, getNamedType, getNullableType, isCompositeType, isListType, isObjectType } from 'graphql'
import { isTimeSliceOver, nextTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { GraphContext } from '../schema/builder.ts'

/** Items completed per time slice once an operation has to wait. */
const ITEMS_PER_SLICE = 20

/** The number of waiting slices by operation. */
const waitingSlices = new WeakMap<object, number>()

/**
 * Makes the schema complete lists of objects in time slices, so that a long result delays other operations by a single
 * slice.
 */
export function completeListsInSlices(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      if (isListType(getNullableType(field.type)) && isCompositeType(getNamedType(field.type)))
        field.resolve = resolveInSlices(field.resolve ?? defaultFieldResolver)
    }
  }
  return schema
}

/** Calls back when no list of an operation is being completed; until then, keys may still be added to a batch. */
export function whenListsAreComplete(ctx: GraphContext, then: () => void): void {
  void Promise.resolve().then(() =>
    process.nextTick(() => {
      if (waitingSlices.has(ctx)) void nextTimeSlice(ctx).then(() => whenListsAreComplete(ctx, then))
      else then()
    }),
  )
}

/** The last value of an operation that waits for its turn. */
const turns = new WeakMap<object, Promise<void>>()

/**
 * Returns a value in a time slice of the operation. Values that arrive together are returned one after another, so that
 * the work following one is done before the time for the next is checked.
 */
export async function inTimeSlice<T>(ctx: GraphContext, value: T): Promise<T> {
  const turn = (turns.get(ctx) ?? Promise.resolve()).then(() => (isTimeSliceOver() ? waitForSlice(ctx) : undefined))
  turns.set(ctx, turn)
  await turn
  return value
}

type Resolve = GraphQLFieldResolver<unknown, GraphContext>

function resolveInSlices(resolve: Resolve): Resolve {
  return (root, args, ctx, info) => {
    const given: unknown = resolve(root, args, ctx, info)
    return given instanceof Promise ? given.then((items) => slices(ctx, items)) : slices(ctx, given)
  }
}

function slices(ctx: GraphContext, items: unknown): unknown {
  if (!Array.isArray(items) || items.length === 0) return items
  return isTimeSliceOver() ? waitForSlice(ctx).then(() => itemsOf(ctx, items)) : itemsOf(ctx, items)
}

/** Yields the items as they are completed; when the time slice is over, the rest waits for the next one. */
function* itemsOf(ctx: GraphContext, items: readonly unknown[]) {
  let index = 0
  while (index < items.length && (index === 0 || !isTimeSliceOver())) yield items[index++]
  for (; index < items.length; index += ITEMS_PER_SLICE) {
    const slice = waitForSlice(ctx)
    for (const item of items.slice(index, index + ITEMS_PER_SLICE)) yield slice.then(() => item)
  }
}

async function waitForSlice(ctx: GraphContext): Promise<void> {
  waitingSlices.set(ctx, (waitingSlices.get(ctx) ?? 0) + 1)
  await nextTimeSlice(ctx)
  const left = (waitingSlices.get(ctx) ?? 1) - 1
  if (left === 0) waitingSlices.delete(ctx)
  else waitingSlices.set(ctx, left)
}
