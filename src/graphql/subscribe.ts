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
    const refused = (type: C): boolean => error instanceof type
    if (!refusals.some(refused)) throw error
    const only = createQueue<T | InstanceType<C>>()
    // The check above is what makes it one.
    only.push(error as InstanceType<C>)
    only.end()
    return only
  }
}
