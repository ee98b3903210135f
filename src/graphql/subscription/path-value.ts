import type { UptimeSource } from '../../generated/prisma/enums.ts'

/** A position in a result. */
export interface Path {
  readonly prev: Path | undefined
}

/** A value that applies to everything below a field of a result. */
export interface PathValue<T> {
  set(path: Path, value: T): void
  /** Returns the value of the nearest field above a position; null: none. */
  above(path: Path): T | null
}

/** Creates a value without any fields. */
export function createPathValue<T extends {}>(): PathValue<T> {
  const values = new WeakMap<Path, T>()
  return {
    set: (path, value) => void values.set(path, value),
    above(path) {
      for (let position: Path | undefined = path; position; position = position.prev) {
        const value = values.get(position)
        if (value !== undefined) return value
      }
      return null
    },
  }
}

/** The uptime source of services below a page that is not the first; elsewhere the organization's setting applies. */
export const countedUptime: PathValue<UptimeSource> = createPathValue()
