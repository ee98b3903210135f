/** What a room needs from the rooms above it, which it must not import. `app/ports.ts` connects every port at the start. */
export interface Port<T> {
  /** Sets what the rooms above provide. */
  connect(given: T): void
  /** Returns what the rooms above provide. @throws Error when nothing is connected. */
  get(): T
}

/** Creates a port. @param name what is needed, for the error. */
export function port<T>(name: string): Port<T> {
  let provided: { readonly given: T } | undefined
  return {
    connect(given) {
      provided = { given }
    },
    get() {
      if (provided === undefined) throw new Error(`Not connected: ${name}.`)
      return provided.given
    },
  }
}
