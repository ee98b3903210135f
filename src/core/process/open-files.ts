import { readFileSync } from 'node:fs'

/**
 * Returns the maximum number of files and sockets of this process (the hard limit, to which Node raises its own at its
 * start); infinity if it is unlimited, or if `/proc` does not contain it.
 */
export function openFileLimit(limits = readLimits()): number {
  const [, hard] = /^Max open files +\S+ +(\d+)/m.exec(limits) ?? []
  return hard === undefined ? Number.POSITIVE_INFINITY : Number(hard)
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}
