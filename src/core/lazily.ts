/** Returns a function that creates a value on its first call, and returns the same one on later calls. */
export function lazily<T>(create: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => {
    made ??= { value: create() }
    return made.value
  }
}
