import type { UptimeSource } from '../../generated/prisma/enums.ts'

/** A position in an answer. */
export interface Path {
  readonly prev: Path | undefined
}

/** A value that applies to everything below a field of an answer. */
export interface PlaceMark<T> {
  set(path: Path, value: T): void
  /** Returns the value of the nearest field above a position; null: none. */
  above(path: Path): T | null
}

/** Creates such a value. */
export function createPlaceMark<T extends {}>(): PlaceMark<T> {
  const marks = new WeakMap<Path, T>()
  return {
    set: (path, value) => void marks.set(path, value),
    above(path) {
      for (let place: Path | undefined = path; place; place = place.prev) {
        const value = marks.get(place)
        if (value !== undefined) return value
      }
      return null
    },
  }
}

/** The uptime source of services below a page that is not the first; elsewhere the organization's setting applies. */
export const countedUptime: PlaceMark<UptimeSource> = createPlaceMark()
