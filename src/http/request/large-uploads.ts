import { createKeyLimiter } from '../../core/concurrency/key-limiter.ts'
import { clientSubject } from '../../core/ip-address.ts'

/** How many uploads of members and keys may be in memory at once, each of up to 20 MB. */
const MAX_UPLOADS = 8

const uploads = createKeyLimiter({ inTotal: MAX_UPLOADS })

/**
 * Takes a slot of this process for a large upload. An organization, and a client's network, have at most half of them.
 * Returns a function that gives it back; null: too many are in progress.
 */
export function tryUpload(organizationId: string, clientAddress: string | null): (() => void) | null {
  return uploads.tryAcquire(organizationId, clientSubject(clientAddress))
}
