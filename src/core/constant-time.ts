import { createHash, timingSafeEqual } from 'node:crypto'

/** Compares two texts in a time that depends neither on their contents nor on their lengths. */
export function isEqualInConstantTime(given: string, expected: string): boolean {
  const hashOf = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hashOf(given), hashOf(expected))
}
