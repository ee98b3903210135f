/** A source of numbers from 0 up to 1 that repeats for equal seeds (mulberry32). */
export type Random = () => number

/** Creates a source of numbers from a seed, such as `8a3f:120`. */
export function randomOf(seed: string): Random {
  // FNV-1a, so that similar seeds differ.
  let state = 0x811c9dc5
  for (const char of seed) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 0x01000193)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns one of these. */
export const pick = <T>(random: Random, all: readonly [T, ...T[]]): T =>
  all[Math.floor(random() * all.length)] ?? all[0]
