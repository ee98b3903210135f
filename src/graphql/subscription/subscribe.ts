import { brandWithType } from '@pothos/core'
import { createAsyncQueue } from '../../core/concurrency/async-queue.ts'
import type { DomainError } from '../../core/errors.ts'

/**
 * Returns the source of a subscription, or a source whose only event is the domain error. The errors plugin would wrap
 * the source in an async generator, which cannot be closed while it waits, so a disconnected client would keep its
 * source open.
 * @param refusals the error classes in the field's union; others are thrown.
 */
export async function sourceOrError<T, C extends abstract new (...args: never[]) => DomainError>(
  source: Promise<AsyncIterable<T>>,
  refusals: readonly C[],
): Promise<AsyncIterable<T | InstanceType<C>>> {
  try {
    return await source
  } catch (error) {
    const type = refusals.find((refusal) => error instanceof refusal)
    if (type === undefined) throw error
    const only = createAsyncQueue<T | InstanceType<C>>()
    // `find` has checked the class.
    only.push(asEvent(error as InstanceType<C>, type))
    only.end()
    return only
  }
}

/** Copies an error into an object with its GraphQL type. graphql-js throws values that are instances of Error. */
function asEvent<E extends DomainError>(error: E, type: abstract new (...args: never[]) => DomainError): E {
  const event = { ...error, message: error.message }
  // The class is the reference of its GraphQL type, which TypeScript cannot know.
  brandWithType(event, type as never)
  return event
}

/** Marks the source of a subscription as endless: the caller is authenticated again for each event. */
export function markEndless<T extends AsyncIterable<unknown>>(source: T): T {
  endlessSources.add(source)
  return source
}

/** Returns whether a source was marked as endless. */
export function isEndless(source: object): boolean {
  return endlessSources.has(source)
}

const endlessSources = new WeakSet<object>()
