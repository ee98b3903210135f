import { brandWithType } from '@pothos/core'
import type { DomainError } from '../errors.ts'
import { createQueue } from '../queue.ts'

/**
 * The source of a subscription, or its refusal as the only event: the errors plugin would wrap the source in an async
 * generator, which cannot be left while it waits, so that a client that goes away would keep its source open.
 * @param refusals the error classes that are members of the field's union; others are thrown.
 */
export async function orRefusal<T, C extends abstract new (...args: never[]) => DomainError>(
  source: Promise<AsyncIterable<T>>,
  refusals: readonly C[],
): Promise<AsyncIterable<T | InstanceType<C>>> {
  try {
    return await source
  } catch (error) {
    const type = refusals.find((refusal) => error instanceof refusal)
    if (type === undefined) throw error
    const only = createQueue<T | InstanceType<C>>()
    // `find` has said that it is one.
    only.push(asEvent(error as InstanceType<C>, type))
    only.end()
    return only
  }
}

/**
 * The fields of an error as an object that carries its GraphQL type, which unions go by. It is no Error any more: a value
 * that is one, graphql-js throws.
 */
function asEvent<E extends DomainError>(error: E, type: abstract new (...args: never[]) => DomainError): E {
  const event = { ...error, message: error.message }
  // A class that is implemented as an object type stands for it; the type does not know which ones are.
  brandWithType(event, type as never)
  return event
}

/** Marks the source of a subscription that has no end of its own: each of its events is executed as who the caller is by then. */
export function lasting<T extends AsyncIterable<unknown>>(source: T): T {
  lastingSources.add(source)
  return source
}

/** Whether a source has no end of its own. */
export function isLasting(source: object): boolean {
  return lastingSources.has(source)
}

const lastingSources = new WeakSet<object>()
