import { DomainError } from './errors.ts'

/** The outcome of one of many inputs: a result, or the refusal. */
export type Outcome<T> = T | DomainError

/** Returns a result, or the thrown refusal. */
export function outcomeOf<T>(run: () => T): Outcome<T> {
  try {
    return run()
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
}

/** Awaits a result, or the refusal. */
export async function awaitOutcome<T>(work: Promise<T>): Promise<Outcome<T>> {
  try {
    return await work
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
}

/** Returns whether an input was refused. */
export const isRefused = <T>(outcome: Outcome<T>): outcome is DomainError => outcome instanceof DomainError

/** Returns the result of the only input. @throws the refusal. */
export function onlyResult<T>([only]: readonly Outcome<T>[]): T {
  if (only === undefined) throw new Error('There is no outcome.')
  if (isRefused(only)) throw only
  return only
}

/** Returns the successful results. */
export function resultsOf<T>(outcomes: readonly Outcome<T>[]): T[] {
  return outcomes.filter((each): each is T => !isRefused(each))
}

/** Returns the outcomes with each result replaced, in order, by those of a function that gets all of them at once. */
export async function thenAll<T, U>(
  outcomes: readonly Outcome<T>[],
  next: (results: readonly T[]) => Promise<readonly Outcome<U>[]>,
): Promise<Outcome<U>[]> {
  const results = resultsOf(outcomes)
  const following = (results.length === 0 ? [] : await next(results)).values()
  return outcomes.map((each) => {
    if (isRefused(each)) return each
    const { value, done } = following.next()
    if (done) throw new Error('An outcome is missing.')
    return value
  })
}
