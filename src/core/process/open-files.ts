import { readFileSync } from 'node:fs'

/**
 * Returns how many files and sockets this process may have open (the hard limit, to which Node raises its own at its start);
 * infinity where it is unlimited, or where the system does not say so in `/proc`.
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
