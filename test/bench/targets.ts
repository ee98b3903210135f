import { isPublic } from '../../src/network/address.ts'

/** Different public IPv4 addresses, scattered over all of them, so that neither caches nor geo data see a pattern. */
export function* scatteredAddresses(): Generator<string, never> {
  for (let number = 0; ; number++) {
    // Multiplying by an odd number modulo 2^32 meets every address once.
    const word = Math.imul(number, 0x9e37_79b1) >>> 0
    const address = [24, 16, 8, 0].map((shift) => (word >>> shift) & 255).join('.')
    if (isPublic(address)) yield address
  }
}

/** Addresses of free callers, each for as many requests as its plan has checks. */
export function* callers(checksPerDay: number): Generator<string, never> {
  for (let number = 0; ; number++) {
    const caller = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
    for (let check = 0; check < checksPerDay; check++) yield caller
  }
}
