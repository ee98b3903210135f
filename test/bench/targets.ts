import { checksPerDay } from '../../src/account/limits.ts'
import { isPublic } from '../../src/core/ip-address.ts'

/**
 * Different public IPv4 addresses, scattered over the whole range, so that neither caches nor geo data see a pattern.
 */
export function* scatteredAddresses(): Generator<string, never> {
  for (let number = 0; ; number++) {
    // Multiplication by an odd number modulo 2^32 reaches every address once.
    const word = Math.imul(number, 0x9e37_79b1) >>> 0
    const address = [24, 16, 8, 0].map((shift) => (word >>> shift) & 255).join('.')
    if (isPublic(address)) yield address
  }
}

/** Addresses of free callers, each for as many checks as its plan has per day; different ones in each process. */
export function* callers(): Generator<string, never> {
  for (;;) {
    callerCount++
    const caller = `172.${16 + (callerCount >> 16)}.${(callerCount >> 8) & 255}.${callerCount & 255}`
    for (let check = 0; check < checksPerDay.FREE; check++) yield caller
  }
}

let callerCount = 0
